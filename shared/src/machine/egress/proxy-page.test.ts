import { expect, test } from "bun:test";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { AppError } from "../../core/errors.ts";
import { closeWithPage, failureAnswer, needsCredentials, sendPage } from "./proxy-page.ts";

test.each([
  ["forbidden", 403],
  ["invalid_input", 403],
  ["rate_limited", 503],
  ["timeout", 504],
  ["unavailable", 502],
] as const)("what fails as %s is answered with %d and its reason", (code, status) => {
  expect(failureAnswer(new AppError(code, "why"))).toEqual({ status, text: "why" });
});

test("an unexpected failure is a bad gateway, without its own words", () => {
  const { status, text } = failureAnswer(new Error("secret detail"));
  expect(status).toBe(502);
  expect(text).not.toContain("secret detail");
});

test.each([
  ["to a request", 403, "verboten für alle"],
  ["to a tunnel", 403, "verboten für alle"],
  ["to a request", 407, needsCredentials.text],
  ["to a tunnel", 502, "über den Weg"],
  ["begun already", 502, "zu spät"],
] as const)(
  "a page %s with the status %d has its length in bytes, is never kept, and says whose it is",
  async (to, status, text) => {
    const server = createServer((_, response) => {
      if (to === "to a tunnel" && response.socket) return closeWithPage(response.socket, { status, text });
      if (to === "begun already") response.write("part");
      return sendPage(response, { status, text });
    });
    await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
    const asked = fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
    if (to === "begun already") await expect(asked.then((answer) => answer.text())).rejects.toThrow();
    else {
      const {
        headers,
        status: told,
        ...answer
      } = await asked.then(async (got) => ({
        headers: got.headers,
        status: got.status,
        text: await got.text(),
      }));
      expect(told).toBe(status);
      expect(answer.text).toContain(`: ${text}\n`);
      expect(headers.get("content-length")).toBe(String(Buffer.byteLength(answer.text)));
      expect(headers.get("cache-control")).toBe("no-store");
      expect(headers.get("proxy-status")).toBe(
        `manyhands; error=${status === 403 ? "http_request_denied" : "connection_refused"}`,
      );
      expect(headers.get("proxy-authenticate")).toBe(status === 407 ? 'Basic realm="manyhands"' : null);
    }
    server.closeAllConnections();
    await new Promise((closed) => server.close(closed));
  },
);
