import { findProgram } from "../process/find-program.ts";
import type { ProxyBridge } from "./proxy-bridge.ts";

/** Where a command sees the folder through which its loopback is reached. */
const inside = "/loopback";

/**
 * Answers one connection from outside: reads a port, and becomes the connection to whatever listens
 * there. The first byte says whether anything does; if not, the rest is what the kernel knows of
 * listeners.
 */
const answer = `
read -r port || exit
for host in 127.0.0.1 ::1; do
  (: <"/dev/tcp/$host/$port") 2>/dev/null || continue
  printf +
  [ "$host" = ::1 ] && host="[::1]"
  exec socat -t 5 - "TCP:$host:$port"
done
printf -- -
cat /proc/net/tcp /proc/net/tcp6 2>/dev/null
`;

const script = `
(cd / && export answer='${answer}' &&
  socat "UNIX-LISTEN:${inside}/door,fork,backlog=128" SYSTEM:'exec /bin/bash -c \\"$answer\\"' </dev/null >/dev/null 2>&1 &)
exec "$@"
`;

/**
 * Lets servers on the command's own loopback be reached through a socket in a folder of ours. It is
 * the command's network that is entered: nothing on this machine's loopback, or on that of another
 * command, can be reached this way. The folder also makes `localhost` a name.
 */
export function loopbackBridge(folder: string): Omit<ProxyBridge, "env"> {
  findProgram("socat");
  return {
    mounts: ["--bind", folder, inside, "--symlink", `${inside}/hosts`, "/etc/hosts"],
    moved: [{ at: inside, source: folder }],
    inner: ["/bin/bash", "-c", script, "bash"],
  };
}
