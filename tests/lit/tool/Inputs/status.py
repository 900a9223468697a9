"""Runs a command and checks its exit status: status.py STATUS COMMAND..."""

import subprocess
import sys

wanted, *command = sys.argv[1:]
status = subprocess.run(command, check=False).returncode
sys.exit(f"the status is {status}, not {wanted}" if status != int(wanted) else 0)
