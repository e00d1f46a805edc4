import { expect, test } from "bun:test";
import type { RunRecord } from "../core/engine.ts";
import { applyEvent, emptyProjection } from "./projection.ts";
import { runView } from "./run-view.ts";

const sha256 = "a".repeat(64);
const run = { id: "r", contextId: "c", status: "completed", createdAt: 0, updatedAt: 0, lastEvent: 1 };

test.each([
  ["report.md", "report.md"],
  ["sub folder/what is #1?.md", "what%20is%20%231%3F.md"],
  ["50% off & more/ü.txt", "%C3%BC.txt"],
])("the file %s is served at an address that leads to it", (name, last) => {
  const parts = [{ type: "file", name, mediaType: "text/plain", size: 1, sha256 }];
  const event = { type: "artifact-added", artifactId: "r/f", name, parts };
  const projection = applyEvent(emptyProjection, { runId: "r", seq: 1, at: 0, event });
  const [file] = runView(run as RunRecord, projection, "manus", "https://agents.example/team/").files;
  expect(file).toMatchObject({ name, url: `https://agents.example/team/artifacts/${sha256}/${last}` });
  expect(new URL(file?.url ?? "").pathname.split("/").slice(0, 4)).toEqual(["", "team", "artifacts", sha256]);
});
