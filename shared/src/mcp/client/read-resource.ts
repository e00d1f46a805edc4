import { AppError } from "../../core/errors.ts";
import type { Connection } from "./connection.ts";
import { createDeadline } from "./deadline.ts";
import type { Contents } from "./to-result.ts";

/** Has a server read a resource of its own. Rejects with an AppError where it has none or fails, or with the signal's reason. */
export async function readResource(
  connection: Connection,
  uri: string,
  signal: AbortSignal,
): Promise<readonly Contents[]> {
  const { name, timeout } = connection.server;
  const deadline = createDeadline(name, timeout, timeout, signal);
  try {
    return await connection.use(async (client) => {
      if (client.getServerCapabilities()?.resources === undefined)
        throw new AppError("unavailable", "it has no resources to read.");
      return (await client.readResource({ uri }, { signal: deadline.signal })).contents;
    }, deadline.signal);
  } finally {
    deadline.end();
  }
}
