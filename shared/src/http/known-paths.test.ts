import { expect, test } from "bun:test";
import { Hono } from "hono";
import { KnownPathsRouter } from "./known-paths.ts";

/**
 * An app with patterns that Hono's faster half does not support, and the requests it is asked for.
 */
function appOn(options: ConstructorParameters<typeof Hono>[0]): Hono {
  const app = new Hono(options);
  const say = (text: string) => (c: { req: { param(): object }; text(body: string): Response }) =>
    c.text(`${text} ${JSON.stringify(c.req.param())}`);
  app.use(async (c, next) => {
    await next();
    c.header("Seen", c.req.path);
  });
  app.get("/tasks", say("all"));
  app.post("/tasks/:op{[^/]+:cancel}", say("cancel"));
  app.post("/tasks/:op{[^/]+:subscribe}", say("subscribe"));
  app.get("/tasks/:id", say("one"));
  app.get("/:tenant/tasks", say("of a tenant"));
  app.get("/:page", say("page"));
  app.post("/", say("root"));
  app.all("/any", say("any"));
  return app;
}

const asked = [
  "/",
  "/tasks",
  "/tasks/",
  "/tasks/1",
  "/a/tasks",
  "/tasks/1:cancel",
  "/any",
  "/other",
  "/none/at/all",
].flatMap((path) => ["GET", "POST", "HEAD", "DELETE", "BREW"].map((method) => ({ method, path })));

for (const strict of [true, false])
  test(`a request is answered as by Hono's own router, also the second time, ${strict ? "strict" : "not strict"}`, async () => {
    const [usual, ours] = [appOn({ strict }), appOn({ strict, router: new KnownPathsRouter() })];
    for (const { method, path } of [...asked, ...asked]) {
      const [wanted, given] = await Promise.all([usual, ours].map((app) => app.request(path, { method })));
      const told = async (response: Response | undefined) => [
        response?.status,
        response?.headers.get("Seen"),
        await response?.text(),
      ];
      expect([method, path, ...(await told(given))]).toEqual([method, path, ...(await told(wanted))]);
    }
  });

test("only paths without parameters are looked for once, and only with methods that some route has", () => {
  const router = new KnownPathsRouter<string>();
  for (const op of ["cancel", "subscribe"]) router.add("POST", `/tasks/:op{[^/]+:${op}}`, op);
  router.add("GET", "/tasks", "all");
  expect(router.match("GET", "/tasks")).toBe(router.match("GET", "/tasks"));
  expect(router.match("BREW", "/tasks")).not.toBe(router.match("BREW", "/tasks"));
  expect(router.match("POST", "/tasks/1:cancel")).not.toBe(router.match("POST", "/tasks/1:cancel"));
});
