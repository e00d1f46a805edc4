import { expect, test } from "bun:test";
import * as z from "zod";
import { endpoint } from "./endpoint.ts";
import { openApiDocument } from "./openapi.ts";

test("an address is described with each of its methods, what each takes and what it answers, its errors included", () => {
  const about = { path: "/things/{id}", tag: "things", problems: [409] } as const;
  const params = z.object({ id: z.string() });
  const answer = () => new Response();
  const read = {
    ...about,
    method: "get",
    summary: "Reads",
    request: { params, query: z.object({ at: z.string() }) },
  } as const;
  const headers = z.object({ "x-key": z.string().optional() });
  const write = {
    ...about,
    method: "post",
    summary: "Writes",
    description: "At once.",
    request: { params, headers, body: z.object({ n: z.int() }) },
  } as const;
  const text = { 200: { description: "It.", body: z.string(), mediaType: "text/plain" } };
  const none = { 204: { description: "Done." } };
  const { paths, servers } = openApiDocument(
    [endpoint({ ...read, answers: text }, answer), endpoint({ ...write, answers: none }, answer)],
    { version: "1", publicUrl: "https://team.example" },
  );
  expect(servers).toEqual([{ url: "https://team.example" }]);
  const there = paths?.["/things/{id}"];
  expect(Object.keys(there ?? {})).toEqual(["get", "post"]);
  expect(there?.get).toMatchObject({
    summary: "Reads",
    parameters: [
      { in: "path", name: "id", required: true },
      { in: "query", name: "at", required: true },
    ],
    responses: { "200": { content: { "text/plain": {} } } },
  });
  expect(Object.keys(there?.get?.responses ?? {})).toEqual(["200", "400", "401", "403", "409", "503"]);
  expect(there?.get).not.toHaveProperty("requestBody");
  expect(there?.post).toMatchObject({
    description: "At once.",
    parameters: [
      { in: "path", name: "id" },
      { in: "header", name: "x-key" },
    ],
    requestBody: { required: true, content: { "application/json": { schema: { type: "object", required: ["n"] } } } },
    responses: { "409": { content: { "application/problem+json": {} } } },
  });
  const ofPost = ["204", "400", "401", "403", "409", "413", "415", "503"];
  expect(Object.keys(there?.post?.responses ?? {})).toEqual(ofPost);
});
