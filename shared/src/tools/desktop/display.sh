# The display of a conversation, inside its sandbox: `display.sh SIZE FOLDER LETTERS`. Starts the X
# server, whose picture is a file in the folder, and a window manager where there is one; then runs
# one argument list after the other. Each comes on standard input as `TOKEN NUL COUNT NUL` and COUNT
# arguments, each with its NUL: no shell looks at them.
trap : INT
exec 3<&0 </dev/null
mkdir "$2" && mkfifo "$2/ready" || exit 1

Xvfb "$DISPLAY" -screen 0 "$1x24" -fbdir "$2" -noreset -nolisten tcp -s 0 -displayfd 4 4>"$2/ready" >/dev/null 2>"$2/log" 3<&- &
server=$!
if ! read -r -t 20 _ <"$2/ready"; then
  head -c 2000 "$2/log" >&2
  exit 1
fi
# What no key has, xdotool puts on one and takes away after the key press, too early for a program
# that is slow to look. So these letters, in pairs without and with Shift, get the keys that players
# and telephones have, for good.
if type -P xkbcomp awk >/dev/null; then
  xkbcomp "$DISPLAY" - 2>/dev/null | awk -v letters="$3" '
    BEGIN { count = split(letters, pairs, " ") }
    /^xkb_/ { part = $1 }
    part == "xkb_keycodes" && $1 ~ /^</ && $2 == "=" { names[++known] = $1 }
    part == "xkb_symbols" && $1 == "key" { if (/XF86.*};$/) next; taken[$2] = 1 }
    part == "xkb_symbols" && /^};/ {
      for (at = 1; at <= known && given < count; at++)
        if (!(names[at] in taken)) print "key " names[at] " { [ " pairs[++given] " ] };"
    }
    { print }' | xkbcomp -w 0 - "$DISPLAY" >/dev/null 2>&1
fi
# Its own files are no results of the conversation. A window that appears before it is ready would
# never be shown.
if type -P openbox >/dev/null; then
  exec 5<>"$2/ready"
  HOME=$2 openbox --startup "sh -c 'echo >$2/ready'" >/dev/null 2>&1 3<&- 5<&- &
  read -r -t 10 _ <&5
  exec 5<&-
fi

while IFS= read -r -d '' -u 3 token && IFS= read -r -d '' -u 3 count; do
  mapfile -t -d '' -n "$count" -u 3 command
  kill -0 "$server" 2>/dev/null || exit 1
  "${command[@]}" 3<&-
  printf '\036%s:%d\036' "$token" "$?"
  printf '\036%s:\036' "$token" >&2
done
