#!/bin/sh
# Runs a command with a library loaded before all others, including those of an existing LD_PRELOAD: preload.sh LIBRARY
# COMMAND...
LD_PRELOAD=$1${LD_PRELOAD:+:$LD_PRELOAD}
export LD_PRELOAD
shift
exec "$@"
