import { type DuckDBConnection, DuckDBInstance } from "@duckdb/node-api";

const memoryLimit = "768MB";
const threads = 2;

/**
 * An in-memory database that reads and writes files below these folders only, loads and fetches no
 * extension, never spills to disk, and whose settings are locked. Symlinks are followed before a
 * path is checked. `looks` is a second connection to it. `isAsOpened` says whether no statement has
 * changed how it works.
 */
export async function openLocked(...folders: readonly string[]): Promise<{
  readonly connection: DuckDBConnection;
  readonly looks: DuckDBConnection;
  isAsOpened(): Promise<boolean>;
}> {
  const instance = await DuckDBInstance.create(":memory:", { threads: String(threads), memory_limit: memoryLimit });
  const connection = await instance.connect();
  const allowed = folders.map((folder) => `'${folder.replaceAll("'", "''")}/'`);
  const settings = [
    `allowed_directories = [${allowed.join(", ")}]`,
    "temp_directory = ''",
    "autoinstall_known_extensions = false",
    "autoload_known_extensions = false",
    "preserve_insertion_order = true",
    "enable_external_access = false",
    "lock_configuration = true",
  ];
  for (const setting of settings) await connection.run(`SET ${setting}`);
  // A separate connection, because the other may be in an aborted transaction.
  const looks = await instance.connect();
  return { connection, looks, isAsOpened: () => logsNothing(looks) };
}

/**
 * Logging is the one thing that a statement can enable in spite of the lock: it writes where
 * replies go, or makes every statement fail.
 */
async function logsNothing(connection: DuckDBConnection): Promise<boolean> {
  try {
    const reader = await connection.runAndReadAll("SELECT current_setting('enable_logging')::INTEGER");
    return reader.getRows()[0]?.[0] === 0;
  } catch {
    return false;
  }
}
