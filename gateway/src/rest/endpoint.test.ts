import { expect, test } from "bun:test";
import { Hono } from "hono";
import * as z from "zod";
import { endpoint, problemsOf, type RestEnv } from "./endpoint.ts";

const about = { path: "/things/{id}", tag: "t", summary: "s", answers: {} } as const;
const body = z.strictObject({ n: z.int() });

test("the error statuses of an operation follow from its request, besides its own, each once and in order", () => {
  const of = (request: object, problems: number[] = []) => problemsOf({ ...about, method: "get", request, problems });
  expect(of({})).toEqual([401, 403, 503]);
  expect(of({ query: z.object({}) }, [404, 403])).toEqual([400, 401, 403, 404, 503]);
  expect(of({ body }, [409])).toEqual([400, 401, 403, 409, 413, 415, 503]);
});

test("an operation gets every part of its request checked, and nothing of a request that does not fit", async () => {
  const got: unknown[] = [];
  const request = {
    params: z.object({ id: z.string().max(3) }),
    query: z.object({ limit: z.coerce.number().max(9).default(5) }),
    headers: z.object({ "x-key": z.string().optional() }),
    body,
  };
  const { handle } = endpoint({ ...about, method: "post", request, problems: [] }, (input) => {
    got.push(input);
    return new Response("ok");
  });
  const app = new Hono<RestEnv>();
  app.onError((error) => new Response(error.message, { status: 400 }));
  app.post("/things/:id", handle);
  const post = async (path: string, sent: unknown, headers = {}) =>
    (await app.request(path, { method: "POST", body: JSON.stringify(sent), headers })).text();
  expect(await post("/things/a?limit=7&other=1", { n: 1 }, { "X-Key": "k" })).toBe("ok");
  expect(got).toEqual([{ params: { id: "a" }, query: { limit: 7 }, headers: { "x-key": "k" }, body: { n: 1 } }]);
  expect(await post("/things/abcd", { n: 1 })).toContain("path.id");
  expect(await post("/things/a?limit=10", { n: 1 })).toContain("query.limit");
  expect(await post("/things/a", { n: 1.5 })).toContain("body.n");
  expect(await post("/things/a", { n: 1, m: 1 })).toContain("m");
  expect(got).toHaveLength(1);
});

test("a query's parameter may be given once, or be a list whose values come one by one or with commas", async () => {
  const got: unknown[] = [];
  const query = z.object({ limit: z.coerce.number().default(5), status: z.string().max(5).exactOptional() });
  const { handle } = endpoint(
    { ...about, method: "get", request: { query }, lists: ["status"], problems: [] },
    (input) => {
      got.push(input.query);
      return new Response("ok");
    },
  );
  const app = new Hono<RestEnv>();
  app.onError((error) => new Response(error.message, { status: 400 }));
  app.get("/things", handle);
  const get = async (asked: string) => (await app.request(`/things?${asked}`)).text();
  expect(await get("status=a&status=b&other=1&other=2")).toBe("ok");
  expect(await get("status=a,b&limit=%31")).toBe("ok");
  expect(got).toEqual([
    { limit: 5, status: "a,b" },
    { limit: 1, status: "a,b" },
  ]);
  expect(await get("limit=1&limit=1")).toBe("query.limit: It may be given only once.");
  expect(await get("status=abc&status=def")).toContain("query.status");
  expect(got).toHaveLength(2);
});

test("an operation without parts reads nothing of its request", async () => {
  const { handle } = endpoint({ ...about, method: "post", request: {}, problems: [] }, (input) => Response.json(input));
  const app = new Hono<RestEnv>().post("/things/:id", handle);
  expect(await (await app.request("/things/a?x=1", { method: "POST", body: "{" })).json()).toEqual({});
});
