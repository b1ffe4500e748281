#!/bin/sh
# Plans and applies all stacks of a tree in any pipeline that runs a shell. A new stack is found by itself: it needs no
# new file. `callsheet help fleets` explains it.
#
#   callsheet/callsheet.sh plan     of a change, and of main: the plans are in callsheet-plan/, and as a page in
#                                   callsheet-plan/plan.md. Keep the folder for the jobs below. Takes more flags.
#   callsheet/callsheet.sh check    fails where any stack is broken or refused: the job to require
#   callsheet/callsheet.sh apply    carries out these plans, and goes on without a stack that is broken or refused
#
# It needs Node.js, and in the environment:
#   CALLSHEET_BASE_URL, CALLSHEET_CLIENT_ID, CALLSHEET_CLIENT_SECRET   those that write for apply only
#   CALLSHEET_FINGERPRINT_KEY
#   CALLSHEET_STATE      where the states are, with {stack} and {environment} in the path, such as
#                        s3://voice-states/{stack}/{environment}.json; unless each callsheet.yaml says it
#   CALLSHEET_DIGEST     for apply, the digest that was approved; the plan prints it last
#   CALLSHEET_ALLOW_DELETE=true, CALLSHEET_OVERRIDE_LIMITS=REASON, …   what lets a plan pass its guards, by their flags
#   and what the stacks read with { $secret: env:NAME }, for apply only.
# Give plan a checkout with history, and for a change --base=origin/main: then only what it adds is refused.
# Callsheet comes from this folder: package.json, package-lock.json and the tarball that they name.
set -eu

# The folder with the stacks, from the top of the repository.
FOLDER=.

cd "$(dirname "$0")/.."
export CALLSHEET_FOLDER="${CALLSHEET_FOLDER:-$FOLDER}"
tool="$PWD/callsheet"
# Never by a name from a registry, which anybody could register: the lockfile has the checksum of what is installed.
npm ci --prefix "$tool" --ignore-scripts --engine-strict --no-audit --no-fund
PATH="$tool/node_modules/.bin:$PATH"

command="${1:-}"
[ $# -eq 0 ] || shift
case "$command" in
  plan)
    exec node "$tool/node_modules/callsheet/examples/ci/tree/plan.mjs" callsheet-plan "$@"
    ;;
  check)
    callsheet validate --recursive --dir "$CALLSHEET_FOLDER"
    . callsheet-plan/plan.env
    case "$CALLSHEET_EXIT" in
      0 | 2) ;;
      *) echo "A stack is broken or refused; the plan says which." >&2; exit 1 ;;
    esac
    ;;
  apply)
    exec callsheet apply callsheet-plan/plans --recursive --dir "$CALLSHEET_FOLDER" ${CALLSHEET_DIGEST:+--expect "$CALLSHEET_DIGEST"} "$@"
    ;;
  *)
    echo "usage: callsheet/callsheet.sh plan|check|apply" >&2
    exit 1
    ;;
esac
