import { readFile, realpath, rm } from "node:fs/promises";
import { resolve } from "node:path";
import { toConfig } from "manyhands/internal/config/config";
import { checkNamedFiles } from "manyhands/internal/config/named-agent";
import { readSettings, type Settings } from "manyhands/internal/config/settings/settings";
import { AppError, errnoOf, unlessMissing } from "manyhands/internal/core/errors";
import { underLock } from "manyhands/internal/machine/workspace/own-files/file-lock";
import { replaceFile } from "manyhands/internal/machine/workspace/own-files/replace-file";

/** The settings file of this system, for reading and changing it. */
export interface SettingsFile {
  /** Its absolute path; it may not be there yet. */
  readonly path: string;
  /** The settings as a server would read them if it started now. Rejects with `config_invalid`. */
  read(): Promise<Settings>;
  /**
   * Replaces its text in one step. A text with which a server would not start is not written:
   * rejects with `config_invalid`; with `conflict` if the file cannot be written; or with what
   * `change` throws. Afterwards only its owner can read the file. Changes are serialized.
   */
  change(change: (text: string) => string | Promise<string>): Promise<void>;
}

/** Where settings are read from, as a server of this system does. */
export type SettingsPlace = {
  readonly cwd: string;
  /** As in the configuration; `manyhands.toml` in `cwd` if undefined. */
  readonly file: string | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
};

/** The file that the settings at this place are in. */
export function settingsFile({ cwd, file, env }: SettingsPlace): SettingsFile {
  const path = resolve(cwd, file ?? "manyhands.toml");
  const readAt = (at: string | undefined) => readSettings({ cwd, file: at, env });
  return {
    path,
    read: async () => readAt((await Bun.file(path).exists()) ? path : undefined),
    async change(change) {
      try {
        // If it is a link, the file it points to is replaced.
        const target = (await realpath(path).catch(unlessMissing)) ?? path;
        await underLock(target, async () => {
          const before = (await readFile(target, "utf8").catch(unlessMissing)) ?? "";
          const text = await change(before);
          if (text === before) return;
          await withStaged(target, text, path, async (staged) => {
            const settings = await readAt(staged);
            await checkNamedFiles(toConfig(settings, cwd));
          });
          await replaceFile(target, text);
        });
      } catch (error) {
        throw writeFailure(error, path);
      }
    },
  };
}

/** Lets `check` read a text as a file beside the one it is for; its errors name that one. */
async function withStaged(
  target: string,
  text: string,
  path: string,
  check: (staged: string) => Promise<void>,
): Promise<void> {
  const staged = `${target}.${crypto.randomUUID()}.toml`;
  try {
    await replaceFile(staged, text);
    await check(staged);
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    const name = staged.split("/").at(-1) ?? staged;
    throw new AppError(error.code, error.message.replaceAll(staged, path).replaceAll(name, path), { cause: error });
  } finally {
    await rm(staged, { force: true });
  }
}

const refusals = ["EROFS", "EACCES", "EPERM", "EBUSY", "ENOTDIR"];

function writeFailure(error: unknown, path: string): unknown {
  const errno = errnoOf(error);
  if (errno === undefined || !refusals.includes(errno)) return error;
  const why = `The settings file ${path} cannot be written (${errno}).`;
  return new AppError("conflict", `${why} Change it where it is made, and restart.`, { cause: error });
}
