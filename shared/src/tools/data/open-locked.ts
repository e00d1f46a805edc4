import { type DuckDBConnection, DuckDBInstance } from "@duckdb/node-api";

const memoryLimit = "768MB";
const threads = 2;

/**
 * A database in memory that reads and writes files below `folder` only, loads and fetches no extension, never spills to disk, and whose settings are
 * locked. Symlinks are followed before a path is judged.
 */
export async function openLocked(folder: string): Promise<DuckDBConnection> {
  const instance = await DuckDBInstance.create(":memory:", { threads: String(threads), memory_limit: memoryLimit });
  const connection = await instance.connect();
  const settings = [
    `allowed_directories = ['${folder.replaceAll("'", "''")}/']`,
    "temp_directory = ''",
    "autoinstall_known_extensions = false",
    "autoload_known_extensions = false",
    "preserve_insertion_order = true",
    "enable_external_access = false",
    "lock_configuration = true",
  ];
  for (const setting of settings) await connection.run(`SET ${setting}`);
  return connection;
}
