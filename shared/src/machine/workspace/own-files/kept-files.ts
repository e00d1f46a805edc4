import { readdir, rm, rmdir } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { unlessMissing } from "../../../core/errors.ts";
import type { KeptText, KeptTexts } from "../../../core/text/kept-text.ts";
import { underLock } from "./file-lock.ts";
import { keptFile } from "./kept-file.ts";

const ending = ".text";

/**
 * Texts as files below a folder of ours. A name is a path of small letters, digits and dashes;
 * `seal` is how their content is stored.
 */
export function keptFiles(folder: string, seal: (file: KeptText, name: string) => KeptText): KeptTexts {
  const pathOf = (name: string) => join(folder, `${name}${ending}`);
  return {
    async names(prefix) {
      const all = (await readdir(folder, { recursive: true }).catch(unlessMissing)) ?? [];
      const names = all.flatMap((path) => (path.endsWith(ending) ? [path.slice(0, -ending.length)] : []));
      return names.filter((name) => name.startsWith(prefix)).toSorted();
    },
    text: (name) => seal(keptFile(pathOf(name), "latin1"), name),
    async remove(name) {
      const path = pathOf(name);
      let wasThere = false;
      await underLock(path, async () => {
        const parts = await readdir(dirname(path));
        wasThere = parts.includes(basename(path));
        const own = parts.filter((part) => part === basename(path) || isStaged(part, basename(path)));
        for (const part of own) await rm(join(dirname(path), part), { force: true });
      });
      // Not if others are in it.
      await rmdir(dirname(path)).catch(() => undefined);
      return wasThere;
    },
  };
}

/** What a change that was killed left beside its file. */
function isStaged(part: string, file: string): boolean {
  return part.startsWith(`${file}.`) && !part.startsWith(`${file}.lock`);
}
