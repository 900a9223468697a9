#!/usr/bin/env bash
# Runs a command with the environment of env.sh: with-env.sh COMMAND...
set -euo pipefail
source "$(dirname "$0")/env.sh"
exec "$@"
