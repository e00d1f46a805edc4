#!/bin/sh
# The command of the image: the command line as it is installed, without the set-up that a checkout
# runs first. `serve NAME` starts one server in the foreground: the gateway or one of our agents.
set -eu
root=/opt/manyhands
if [ "${1-}" = serve ] && [ $# -gt 1 ]; then
  case "$2" in
    gateway) entry=$root/gateway/src/server/main.ts ;;
    *) entry=$root/agents/$2/src/server.ts ;;
  esac
  if ! [ -f "$entry" ]; then
    echo "There is no server $2. There are: gateway $(cd $root/agents && echo *)" >&2
    exit 2
  fi
  shift 2
  exec bun "$entry" "$@"
fi
exec bun $root/gateway/src/cli/main.ts "$@"
