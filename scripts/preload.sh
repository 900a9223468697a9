#!/bin/sh
# Runs a command with a library loaded before all others, those of an LD_PRELOAD that is set included: preload.sh LIBRARY
# COMMAND...
LD_PRELOAD=$1${LD_PRELOAD:+:$LD_PRELOAD}
export LD_PRELOAD
shift
exec "$@"
