import { expect, test } from "bun:test";
import { EventEmitter } from "node:events";
import type { Page } from "playwright";
import { createPageRoutes } from "./page-routes.ts";

function pageForTest() {
  const placed: unknown[][] = [];
  const page = Object.assign(new EventEmitter(), {
    route: async (...args: unknown[]) => void placed.push(["route", ...args]),
    routeWebSocket: async (...args: unknown[]) => void placed.push(["socket", ...args]),
  });
  return { page: page as unknown as Page & EventEmitter, placed };
}

test("each lookout is placed on the pages that are there and on those that come, in its order, and on none that has closed", async () => {
  const [early, late] = [pageForTest(), pageForTest()];
  const routes = createPageRoutes();
  const [http, socket, third] = [async () => {}, async () => {}, async () => {}];
  await routes.route(/^http/, http);
  await routes.add(early.page);
  await routes.routeWebSocket(/^ws/, socket);
  await routes.add(late.page);
  const both = [
    ["route", /^http/, http],
    ["socket", /^ws/, socket],
  ];
  expect([early.placed, late.placed]).toEqual([both, both]);
  early.page.emit("close");
  await routes.route("**", third);
  expect([early.placed.length, late.placed.at(-1)]).toEqual([2, ["route", "**", third]]);
});
