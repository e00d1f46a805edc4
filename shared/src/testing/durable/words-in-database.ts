import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/**
 * How often a word occurs in the files of a server's tables and indexes. The log of changes is not
 * theirs.
 */
export async function wordsInDatabase(sql: Bun.SQL, word: string): Promise<number> {
  await sql.unsafe("CHECKPOINT");
  const [{ data_directory: folder }] = await sql.unsafe("SHOW data_directory");
  const files = readdirSync(join(folder, "base"), { recursive: true, withFileTypes: true });
  return files
    .filter((file) => file.isFile())
    .reduce((sum, { parentPath, name }) => {
      const bytes = readFileSync(join(parentPath, name));
      let found = 0;
      for (let at = bytes.indexOf(word); at >= 0; at = bytes.indexOf(word, at + 1)) found++;
      return sum + found;
    }, 0);
}
