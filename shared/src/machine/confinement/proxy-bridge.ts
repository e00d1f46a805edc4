import { findProgram } from "../process/find-program.ts";
import type { SandboxProxy } from "../sandbox/sandbox.ts";

const port = 3128;
const inside = "/egress.sock";

/**
 * Connects the loopback port to the proxy's socket, waits until it listens, and becomes the
 * command.
 */
const script = `
(socat TCP-LISTEN:${port},bind=127.0.0.1,fork,reuseaddr,backlog=256 UNIX-CONNECT:${inside} </dev/null >/dev/null 2>&1 &)
for attempt in {1..200}; do
  (: </dev/tcp/127.0.0.1/${port}) 2>/dev/null && break
  sleep 0.01
done
exec "$@"
`;

/**
 * Connects a process in an isolated network to a proxy: arguments of bwrap, a script that runs
 * before the command, and variables.
 */
export type ProxyBridge = {
  readonly mounts: readonly string[];
  readonly moved: readonly { readonly at: string; readonly source: string }[];
  readonly inner: readonly string[];
  readonly env: Readonly<Record<string, string>>;
};

/** The bridge to a proxy. Throws `sandbox_unavailable` where this machine has no socat. */
export function proxyBridge({ socket, username, password, loopback = false }: SandboxProxy): ProxyBridge {
  findProgram("socat");
  const proxy = `http://${username}:${password}@127.0.0.1:${port}`;
  return {
    mounts: ["--ro-bind", socket, inside],
    moved: [{ at: inside, source: socket }],
    inner: ["/bin/bash", "-c", script, "bash"],
    env: proxyVariables(proxy, loopback ? "" : "localhost,127.0.0.1"),
  };
}

function proxyVariables(proxy: string, none: string): Record<string, string> {
  const names = ["http_proxy", "https_proxy", "all_proxy"];
  const pairs = [...names, ...names.map((name) => name.toUpperCase())].map((name) => [name, proxy] as const);
  return { ...Object.fromEntries(pairs), no_proxy: none, NO_PROXY: none, NODE_USE_ENV_PROXY: "1" };
}
