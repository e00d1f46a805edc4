import { Database } from "bun:sqlite";
import { constants, copyFileSync, fdatasync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import type { SyncFile } from "../../durable/sqlite/disk/file-sync.ts";

const reallySynced = promisify(fdatasync);

/**
 * What a loss of power would leave of a store at any moment: its files as they were when the newest
 * of the syncs began that have ended. That SQLite syncs, too, is left out.
 */
export class PoweredDisk {
  readonly #path: string;
  readonly #folder: string;
  #begun = 0;
  #left: { readonly sync: number; readonly db: Database } | undefined;

  /** `folder` is for the copies. */
  constructor(path: string, folder: string) {
    this.#path = path;
    this.#folder = folder;
    mkdirSync(folder, { recursive: true });
  }

  /** How many syncs have begun. */
  get syncs(): number {
    return this.#begun;
  }

  /** A sync that takes longer than the disk does, by a random time. */
  readonly syncFile: SyncFile = async (file) => {
    const sync = ++this.#begun;
    const copy = join(this.#folder, `${sync}.db`);
    for (const side of ["", "-wal"]) copyFileSync(this.#path + side, copy + side, constants.COPYFILE_FICLONE);
    await reallySynced(file);
    await Bun.sleep(Math.random() ** 2 * 8);
    if (sync < (this.#left?.sync ?? 0)) return;
    this.#left?.db.close();
    this.#left = { sync, db: new Database(copy, { readwrite: true }) };
    rmSync(join(this.#folder, `${sync - 20}.db`), { force: true });
  };

  /** The first row of what the power's loss would leave now. */
  left(sql: string, ...values: (string | number)[]): unknown {
    return this.#left?.db.query(sql).get(...values) ?? null;
  }
}
