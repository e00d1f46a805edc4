# Starts a command line in a session of its own and looks for a second whether it stays; tells its
# output when it does not.
log=$(mktemp)
setsid /bin/bash -c "$1" >"$log" 2>&1 &
for _ in {1..10}; do
  sleep 0.1
  if ! kill -0 $! 2>/dev/null; then
    wait $!
    status=$?
    head -c 4000 "$log"
    echo "[it ended with exit code $status]"
    exit "$status"
  fi
done
