import { AppError } from "manyhands/internal/core/errors";
import { ownCommand } from "manyhands/internal/core/release";

/**
 * Whether a server could listen here now. Throws `config_invalid` for other problems, such as a
 * host that is not an address of this machine.
 */
export function isPortFree(host: string, port: number): boolean {
  try {
    Bun.listen({ hostname: host, port, socket: { data() {} } }).stop(true);
    return true;
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    if (code === "EADDRINUSE" || code === "EACCES") return false;
    throw new AppError(
      "config_invalid",
      `Cannot listen on ${host} port ${port}: HOST must be an address of this machine.`,
      {
        cause: error,
      },
    );
  }
}

/** Throws `unavailable` with what to do when the port is taken. */
export function requireFreePort(name: string, host: string, port: number, portEnv: string): void {
  if (isPortFree(host, port)) return;
  throw new AppError(
    "unavailable",
    `Port ${port} for ${name} is in use on ${host}. Stop what listens there (another \`${ownCommand} start\`?) or set ${portEnv} to a free port.`,
  );
}
