import { expect, test } from "bun:test";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "manyhands/internal/http/free-port";
import { noPostgres, postgresPrograms, startPostgres } from "manyhands/internal/testing/durable/postgres-process";
import { skipped } from "manyhands/internal/testing/durable/skipped";
import { s3Credentials, startS3 } from "manyhands/internal/testing/machine/s3-server";
import { startScriptedModel } from "manyhands/internal/testing/models/scripted-model";
import { sendBySdk } from "../e2e/sdk-client.ts";
import { startAgent } from "../servers/manus-server.ts";

if (postgresPrograms === undefined) skipped(noPostgres);
else
  test("an agent goes on with the files of a conversation at another machine", async () => {
    const base = await mkdtemp(join(tmpdir(), "manyhands-moving-"));
    await using database = await startPostgres();
    await using s3 = startS3();
    const edit = (args: object) => ({ calls: [{ name: "str_replace_editor", args }] });
    const model = await startScriptedModel(({ messages }) => {
      if (messages.at(-1)?.role === "tool") return { text: "done" };
      const isSecond = JSON.stringify(messages).includes("Read it");
      return isSecond
        ? edit({ command: "view", path: "note.txt" })
        : edit({ command: "create", path: "note.txt", file_text: "written at the first machine" });
    });
    const url = await database.createDatabase();
    const open = async (name: string) => {
      await mkdir(join(base, name));
      const agent = startAgent("swe", {
        MANYHANDS_HOME: join(base, name),
        PORT: String(freePort()),
        OPENAI_BASE_URL: model.url,
        MANYHANDS_MODEL: "scripted",
        MANYHANDS_ENGINE_KIND: "postgres",
        MANYHANDS_ENGINE_URL: url,
        MANYHANDS_ARTIFACTS_BUCKET: s3Credentials.bucket,
        AWS_ENDPOINT_URL_S3: s3.endpoint,
        AWS_ACCESS_KEY_ID: s3Credentials.accessKeyId,
        AWS_SECRET_ACCESS_KEY: s3Credentials.secretAccessKey,
      });
      await agent.ready;
      return agent;
    };
    const one = await open("one");
    const { contextId } = await sendBySdk(one.url, "Write it").finally(() => one.stop());
    const other = await open("other");
    try {
      await sendBySdk(other.url, "Read it", {}, { contextId });
      const said = model.requests.at(-1)?.body.messages.at(-1);
      expect(JSON.stringify(said)).toContain("written at the first machine");
    } finally {
      await other.stop();
      await model.close();
      await rm(base, { recursive: true });
    }
  }, 120_000);
