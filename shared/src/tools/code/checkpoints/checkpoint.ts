import * as z from "zod";

const savedFile = z.strictObject({
  path: z.string(),
  sha256: z.string(),
  size: z.int(),
  /** Milliseconds since 1970. */
  modifiedAt: z.number(),
  executable: z.boolean(),
});

/** A workspace as it was before one call of a tool. */
export const checkpointSchema = z.strictObject({
  id: z.int(),
  /** The call's key: the same at every attempt. */
  key: z.string(),
  tool: z.string(),
  /** What the call was about, in a few words. */
  about: z.string(),
  /** Milliseconds since 1970. */
  at: z.number(),
  files: z.array(savedFile),
  complete: z.boolean(),
});

export type Checkpoint = z.output<typeof checkpointSchema>;
/** A file of a checkpoint: its content is kept under its hash. */
export type SavedFile = z.output<typeof savedFile>;

/** What differs between two states, path by path. Undefined stands for a file that is not there. */
export type Difference = { readonly path: string; readonly before?: SavedFile; readonly after?: SavedFile };

/** The paths whose content or permission differs, in the order of their names. */
export function differences(before: readonly SavedFile[], after: readonly SavedFile[]): Difference[] {
  const old = new Map(before.map((file) => [file.path, file]));
  const now = new Map(after.map((file) => [file.path, file]));
  const paths = [...new Set([...old.keys(), ...now.keys()])].sort();
  return paths.flatMap((path) => {
    const [was, is] = [old.get(path), now.get(path)];
    if (was?.sha256 === is?.sha256 && was?.executable === is?.executable) return [];
    return [{ path, ...(was && { before: was }), ...(is && { after: is }) }];
  });
}
