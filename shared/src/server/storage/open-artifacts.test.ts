import { afterAll, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { s3Credentials, startS3 } from "../../testing/machine/s3-server.ts";
import { bucketNote, openArtifacts } from "./open-artifacts.ts";

const folder = await mkdtemp(join(tmpdir(), "manyhands-artifacts-"));
afterAll(() => rm(folder, { recursive: true }));
const content = () => new TextEncoder().encode("hello");
const home = (name: string) => join(folder, name);

test("who shares runs between machines without a bucket is told where files stay", () => {
  const engine = { kind: "postgres" } as never;
  expect(bucketNote({ engine, bucket: undefined })).toMatch(/^artifacts\.bucket is not set: files and workspaces/);
  expect(bucketNote({ engine, bucket: {} as never })).toBeUndefined();
  expect(bucketNote({ engine: { kind: "embedded" }, bucket: undefined })).toBeUndefined();
});

test("artifacts stay in their home, unless the settings name a bucket that several machines share", async () => {
  const alone = openArtifacts({ home: home("alone"), bucket: undefined });
  const { sha256 } = await alone.put(content(), { name: "a.txt" });
  expect(await (await openArtifacts({ home: home("alone"), bucket: undefined }).get(sha256))?.text()).toBe("hello");
  expect(await openArtifacts({ home: home("other"), bucket: undefined }).get(sha256)).toBeUndefined();

  await using s3 = startS3();
  const bucket = {
    ...s3Credentials,
    endpoint: s3.endpoint,
    prefix: "team/files",
    workspaceBytes: 1,
    virtualHosted: false,
  };
  await openArtifacts({ home: home("one"), bucket }).put(content(), { name: "a.txt" });
  expect([...s3.objects.keys()]).toEqual([expect.stringMatching(new RegExp(`^team/files/${sha256}/`))]);
  expect(await (await openArtifacts({ home: home("two"), bucket }).get(sha256))?.text()).toBe("hello");
  // What was fetched once is in the home.
  expect(await (await openArtifacts({ home: home("two"), bucket: undefined }).get(sha256))?.text()).toBe("hello");
});
