import * as z from "zod";

/** A path below a workspace's folder that cannot lead out of it. */
const path = z.string().refine((text) => {
  const names = text.split("/");
  return ["files", "meta"].includes(names[0] ?? "") && names.every((name) => name !== "" && !/^\.\.?$|\0/.test(name));
});

const mode = z.int().min(0).max(0o777);

/** A file, and where its content is: in this pack, so many bytes from its beginning. */
const file = z.strictObject({
  path,
  mode,
  modifiedAt: z.number(),
  size: z.int().min(0),
  sha256: z.string(),
  pack: z.string().regex(/^[0-9a-f-]{36}$/),
  at: z.int().min(0),
});

/** What a workspace held at some time. */
export const manifestSchema = z.strictObject({
  version: z.literal(1),
  folders: z.array(z.strictObject({ path, mode })),
  links: z.array(z.strictObject({ path, target: z.string() })),
  files: z.array(file),
  /** The bytes of each pack, unpacked. */
  packs: z.record(z.string(), z.int().min(0)),
});

/** A file of a manifest. */
export type PackedFile = z.output<typeof file>;

/** What a workspace held at some time, and where that is. */
export type Manifest = z.output<typeof manifestSchema>;

/** What this machine remembers of a workspace's newest checkpoint, beside its files. */
export const markerSchema = z.strictObject({
  /** Under which this process, or one before it, held the conversation. */
  epoch: z.number(),
  checkpoint: z.string().nullable(),
  manifest: manifestSchema.nullable(),
  /** By path, what the file system said of a file when it was packed. */
  seen: z.record(z.string(), z.string()),
});

/** What this machine remembers of a workspace's newest checkpoint. */
export type Marker = z.output<typeof markerSchema>;

/** The name of the marker in a workspace's folder, which no tool can enter. */
export const markerName = "checkpoint.json";
