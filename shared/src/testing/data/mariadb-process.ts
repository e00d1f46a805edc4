import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "../../http/free-port.ts";

/** What is said of a test that is skipped. */
export const noMariadb =
  "No MariaDB server is installed (Debian: apt-get install mariadb-server); its test is skipped.";

/** Whether there is a server to start. */
export const hasMariadb = Bun.which("mariadbd") !== null && Bun.which("mariadb-install-db") !== null;

const startedWithinMs = 30_000;

/** A MariaDB server of one test, on a free port, with its data in a folder of its own. */
export async function startMariadb(): Promise<{ readonly url: string } & AsyncDisposable> {
  const folder = mkdtempSync(join(tmpdir(), "mariadb-"));
  const user = process.getuid?.() === 0 ? ["--user=mysql"] : [];
  if (user.length > 0) await succeeded(["chown", "mysql", folder]);
  const data = [...user, `--datadir=${join(folder, "data")}`];
  await succeeded([
    "mariadb-install-db",
    "--no-defaults",
    ...data,
    "--auth-root-authentication-method=normal",
    "--skip-test-db",
  ]);
  const port = freePort();
  const listening = [`--port=${port}`, "--bind-address=127.0.0.1", `--socket=${join(folder, "socket")}`];
  const server = Bun.spawn(["mariadbd", "--no-defaults", ...data, ...listening], {
    stdout: "ignore",
    stderr: "ignore",
  });
  const url = `mysql://root@127.0.0.1:${port}/mysql`;
  await answering(url);
  return {
    url,
    async [Symbol.asyncDispose]() {
      server.kill();
      await server.exited;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function succeeded(argv: string[]): Promise<void> {
  const child = Bun.spawn(argv, { stdout: "ignore", stderr: "pipe" });
  if ((await child.exited) !== 0) throw new Error(`${argv[0]} failed: ${await new Response(child.stderr).text()}`);
}

async function answering(url: string): Promise<void> {
  const until = performance.now() + startedWithinMs;
  for (;;) {
    try {
      await using sql = new Bun.SQL(url, { max: 1, connectionTimeout: 5 });
      await sql.unsafe("SELECT 1");
      return;
    } catch (error) {
      if (performance.now() > until) throw error;
      await Bun.sleep(100);
    }
  }
}
