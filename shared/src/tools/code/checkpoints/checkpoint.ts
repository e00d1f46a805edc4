import * as z from "zod";

const savedFile = z.strictObject({
  path: z.string(),
  sha256: z.string(),
  size: z.int(),
  /** Milliseconds since 1970. */
  modifiedAt: z.number(),
  executable: z.boolean(),
});

/** A workspace's state before one call of a tool. */
export const checkpointSchema = z.strictObject({
  id: z.int(),
  /** The call's key: the same at every attempt. */
  key: z.string(),
  tool: z.string(),
  /** A summary of the call, in a few words. */
  about: z.string(),
  /** Milliseconds since 1970. */
  at: z.number(),
  files: z.array(savedFile),
  complete: z.boolean(),
});

/** The state of a workspace's files at one time. */
export type Checkpoint = z.output<typeof checkpointSchema>;
/** A file of a checkpoint: its content is stored under its hash. */
export type CheckpointFile = z.output<typeof savedFile>;

/** One difference between two states, at one path. Undefined stands for a missing file. */
export type FileDifference = {
  readonly path: string;
  readonly before?: CheckpointFile;
  readonly after?: CheckpointFile;
};

/** The paths whose content or permissions differ, sorted by name. */
export function differences(before: readonly CheckpointFile[], after: readonly CheckpointFile[]): FileDifference[] {
  const old = new Map(before.map((file) => [file.path, file]));
  const now = new Map(after.map((file) => [file.path, file]));
  const paths = [...new Set([...old.keys(), ...now.keys()])].sort();
  return paths.flatMap((path) => {
    const [was, is] = [old.get(path), now.get(path)];
    if (was?.sha256 === is?.sha256 && was?.executable === is?.executable) return [];
    return [{ path, ...(was && { before: was }), ...(is && { after: is }) }];
  });
}
