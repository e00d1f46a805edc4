import { expect, spyOn, test } from "bun:test";
import * as running from "../../../machine/process/run-own-script.ts";
import { writeWorkbook } from "./write-workbook.ts";

const request = { sheets: [{ name: "S", formats: {}, csv: "\n".repeat(3), path: "a.csv" }], page: true };

test("a workbook is made by a script of ours within a minute and 2 GB, as long as its task goes on", async () => {
  const content = Buffer.from("made").toString("base64");
  const reply = { content, told: "a sheet", page: "<p>drawn</p>" };
  using run = spyOn(running, "runOwnScript").mockResolvedValue(reply);
  const { signal } = new AbortController();
  const { content: bytes, told, page } = await writeWorkbook(request, signal);
  expect([Buffer.from(bytes).toString(), told, page]).toEqual(["made", "a sheet", "<p>drawn</p>"]);
  const [asked] = run.mock.calls[0] ?? [];
  expect(asked).toMatchObject({
    script: expect.stringMatching(/\/write\/workbook-worker\.ts$/),
    subject: "Writing the workbook",
    deadlineMs: 60_000,
    memoryBytes: 2 * 2 ** 30,
  });
  expect([asked?.signal === signal, await new Response(asked?.stdin as Blob).json()]).toEqual([true, request]);
});

test("sheets that make no workbook are told as such", async () => {
  const rows = [["=WEBSERVICE(B1)"]];
  const written = writeWorkbook(
    { sheets: [{ name: "S", formats: {}, rows }], page: false },
    AbortSignal.timeout(60_000),
  );
  await expect(written).rejects.toMatchObject({
    code: "forbidden",
    message: expect.stringContaining("The formula in S!A1 is refused"),
  });
});
