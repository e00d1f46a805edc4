import { realpath, stat } from "node:fs/promises";
import { join } from "node:path";
import { AppError } from "../core/errors.ts";
import { sha256Of } from "../core/text/sha256.ts";
import { entriesOf, type HeldFolder, holdFolder, type Owner } from "../machine/workspace/held-folder.ts";
import { openRegular } from "../machine/workspace/workspace-file.ts";
import { readSkillText, type SkillText } from "./skill-text.ts";

/** A file of a skill, with its path in the skill's folder. */
export type SkillFile = { readonly path: string; readonly content: Uint8Array };

/** A skill as it was read: everything in it is what its hash stands for. */
export type SkillFolder = SkillText & {
  /** All of it, with `SKILL.md`. */
  readonly files: readonly SkillFile[];
  /** Of every path and content. */
  readonly hash: string;
};

const skillFile = "SKILL.md";
const maxTextBytes = 64 * 1024;
const maxBytes = 5 * 1024 ** 2;
const maxFiles = 200;
const deepest = 4;
/** No hidden names: nothing that a shell, an editor or git takes for its own. */
const safeName = /^[A-Za-z0-9_][A-Za-z0-9_. +-]{0,99}$/;
/** What a Python that ran in the folder leaves there. */
const skipped = new Set(["__pycache__"]);

/**
 * Reads a skill whole: the folder `name` in `root`, in the convention of Agent Skills. Follows no
 * link below `root`. Rejects with `invalid_input` for a folder that is not a skill or larger than a
 * skill may be, with `not_found` if there is none.
 */
export async function readSkillFolder(root: string, name: string): Promise<SkillFolder> {
  const base = await realpath(root).catch(() => {
    throw new AppError("not_found", `The folder ${root} does not exist.`);
  });
  const { uid, gid } = await stat(join(base, name)).catch(() => {
    throw new AppError("not_found", `There is no skill ${JSON.stringify(name)}.`);
  });
  const reading: Reading = { root: base, owner: { uid, gid }, files: [], bytes: 0 };
  await readFolder([name], reading);
  const text = reading.files.find(({ path }) => path === skillFile);
  if (text === undefined) throw new AppError("invalid_input", `It has no ${skillFile}.`);
  if (text.content.length > maxTextBytes)
    throw new AppError("invalid_input", `Its ${skillFile} has more than ${maxTextBytes / 1024} KB.`);
  return {
    ...readSkillText(text.content, name),
    files: reading.files,
    hash: hashOf(reading.files),
  };
}

type Reading = {
  readonly root: string;
  readonly owner: Owner;
  readonly files: SkillFile[];
  bytes: number;
};

async function readFolder(folders: readonly string[], reading: Reading): Promise<void> {
  await using folder = await holdFolder(reading.root, folders);
  for (const { name, kind } of await entriesOf(folder)) {
    if (kind === "folder" && skipped.has(name)) continue;
    const path = [...folders.slice(1), name].join("/");
    if (!safeName.test(name)) refuse(`The name ${JSON.stringify(path)} cannot be in a skill.`);
    if (kind === "other") refuse(`${path} is neither a file nor a folder: a skill has no links.`);
    if (kind === "folder") {
      if (folders.length > deepest) refuse(`${path} is deeper than ${deepest} folders.`);
      await readFolder([...folders, name], reading);
    } else reading.files.push({ path, content: await readContent(folder, name, path, reading) });
  }
}

async function readContent(folder: HeldFolder, name: string, path: string, reading: Reading): Promise<Uint8Array> {
  if (reading.files.length === maxFiles) refuse(`It has more than ${maxFiles} files.`);
  const { handle } = await openRegular(folder, name, path, reading.owner);
  try {
    // What is there now, not what it said it had: a file may grow meanwhile.
    const buffer = Buffer.alloc(Math.min(maxBytes - reading.bytes, (await handle.stat()).size) + 1);
    let length = 0;
    for (;;) {
      const { bytesRead } = await handle.read(buffer, length, buffer.length - length, length);
      length += bytesRead;
      if (bytesRead === 0) break;
      if (length === buffer.length) refuse(`It has more than ${maxBytes / 1024 ** 2} MB, or changes while it is read.`);
    }
    reading.bytes += length;
    return buffer.subarray(0, length);
  } finally {
    await handle.close();
  }
}

function refuse(message: string): never {
  throw new AppError("invalid_input", message);
}

/** Order and lengths are part of it: no two skills have the same text to hash. */
function hashOf(files: readonly SkillFile[]): string {
  const sorted = [...files].sort((one, other) => (one.path < other.path ? -1 : 1));
  return sha256Of(JSON.stringify(sorted.map(({ path, content }) => [path, sha256Of(content)])));
}
