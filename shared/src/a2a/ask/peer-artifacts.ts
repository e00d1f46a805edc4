import type { Artifact, Task, Part as WirePart } from "@a2a-js/sdk";
import type { Fault } from "../../core/events/ask-outcome.ts";
import { deepestJson, isTooDeep, type Json } from "../../core/json.ts";
import type { Metadata, Part, PeerArtifact } from "../../core/message.ts";
import { insidePath } from "../../core/text/inside-path.ts";
import { sanitizeLine } from "../../core/text/sanitize.ts";
import type { StoredFile } from "../../core/workspace.ts";

/** Names of artifacts that hold the answer at an agent of ours. */
const answerNames = ["answer", "partial-answer"];

/** Most artifacts that are taken, and most characters of them all as JSON. */
const maxArtifacts = 50;
const maxCharacters = 256 * 1024;

/** The artifacts that the answer is read from: the one named so, else all of them. */
export function answerSources({ artifacts }: Task): readonly Artifact[] {
  const named = artifacts.findLast(({ name }) => answerNames.includes(name));
  return named === undefined ? artifacts : [named];
}

/**
 * The artifacts of a task that hold more than its answer and plain files, with the files that were
 * taken in place of the parts they came as. `fault` is set if there were too many.
 */
export function peerArtifacts(
  task: Task,
  files: ReadonlyMap<WirePart, StoredFile>,
): { readonly artifacts: readonly PeerArtifact[]; readonly fault?: Fault } {
  const taken: PeerArtifact[] = [];
  const names = new Set<string>();
  let room = maxCharacters;
  for (const artifact of task.artifacts.filter((one) => !isAnswer(one, task) && !isFiles(one, files))) {
    const name = unusedName(artifact, names);
    const made = peerArtifact(name, artifact, files);
    if (!isTooDeep(made)) room -= JSON.stringify(made).length;
    if (taken.length === maxArtifacts || room < 0 || isTooDeep(made)) {
      const message = `There are more artifacts than the ${maxArtifacts}, of ${maxCharacters} characters and ${deepestJson} levels, that are taken.`;
      return { artifacts: taken, fault: { code: "too_large", message } };
    }
    names.add(name);
    taken.push(made);
  }
  return { artifacts: taken };
}

/** Whether the answer says everything that an artifact holds: its text, and one piece of data. */
function isAnswer(artifact: Artifact, task: Task): boolean {
  const sources = answerSources(task);
  const isOnly = sources.length === 1 && sources[0] === artifact;
  if (!isOnly && !answerNames.includes(artifact.name)) return false;
  const data = artifact.parts.filter(({ content }) => content?.$case === "data").length;
  const rest = artifact.parts.filter(({ content, metadata }) => isLink(content) || othersMetadata(metadata));
  return data <= (isOnly ? 1 : 0) && rest.length === 0 && othersMetadata(artifact.metadata) === undefined;
}

function isLink(content: WirePart["content"]): boolean {
  return content?.$case === "url" || content?.$case === "raw";
}

/** Whether an artifact is files and nothing else, each of them taken. */
function isFiles({ parts, metadata }: Artifact, files: ReadonlyMap<WirePart, StoredFile>): boolean {
  return othersMetadata(metadata) === undefined && parts.every((part) => files.has(part));
}

function peerArtifact(name: string, artifact: Artifact, files: ReadonlyMap<WirePart, StoredFile>): PeerArtifact {
  const metadata = othersMetadata(artifact.metadata);
  const description = sanitizeLine(artifact.description, 1_000);
  return {
    name,
    ...(description !== "" && { description }),
    parts: artifact.parts.flatMap((part) => peerPart(part, files.get(part))),
    ...(metadata && { metadata }),
  };
}

function peerPart(part: WirePart, file: StoredFile | undefined): Part[] {
  if (file !== undefined) return [{ type: "file", ...file }];
  const { content, filename } = part;
  const metadata = othersMetadata(part.metadata);
  const mediaType = sanitizeLine(part.mediaType, 100);
  const about = { ...(mediaType !== "" && { mediaType }), ...(metadata && { metadata }) };
  const name = sanitizeLine(filename, 200);
  switch (content?.$case) {
    case "text":
      return [{ type: "text", text: content.value.toWellFormed(), ...about }];
    case "data":
      return [{ type: "data", data: content.value as Json, ...about }];
    case "url":
      return [{ type: "url", url: content.value.toWellFormed(), ...about, ...(name !== "" && { name }) }];
    default:
      return [];
  }
}

/** A name that no other artifact of the task has: in a task of ours a name is one artifact. */
function unusedName({ name, artifactId }: Artifact, used: ReadonlySet<string>): string {
  const wanted = insidePath(sanitizeLine(name || artifactId, 200));
  for (let n = 1; ; n++) {
    const free = n === 1 ? wanted : `${wanted} (${n})`;
    if (!used.has(free)) return free;
  }
}

/** Metadata without our own keys, by which a foreign part could pass for a file of ours. */
function othersMetadata(metadata: Record<string, unknown> | undefined): Metadata | undefined {
  const others = Object.entries(metadata ?? {}).filter(([key]) => !key.startsWith("manyhands/"));
  return others.length === 0 ? undefined : (Object.fromEntries(others) as Metadata);
}
