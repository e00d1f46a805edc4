import { expect, test } from "bun:test";
import { createOidc } from "./oidc.ts";

/** An issuer that answers its first requests with these statuses, and then with its description. */
function startIssuer(statuses: readonly number[]) {
  const left = [...statuses];
  const server: Bun.Server<undefined> = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch() {
      const issuer = server.url.href.replace(/\/$/, "");
      const status = left.shift();
      if (status !== undefined) return new Response("", { status });
      return Response.json({
        issuer,
        authorization_endpoint: `${issuer}/authorize`,
        token_endpoint: `${issuer}/token`,
      });
    },
  });
  return { url: server.url.href.replace(/\/$/, ""), stop: () => server.stop(true) };
}

const of = (issuer: string) =>
  createOidc({
    issuer,
    clientId: "manyhands",
    clientSecret: undefined,
    principalClaim: "sub",
    scopesClaim: undefined,
    sessionMs: 3_600_000,
  });

test("an issuer that is away at the first sign-in is asked again at the next", async () => {
  const issuer = startIssuer([503, 502]);
  try {
    const oidc = of(issuer.url);
    const begun = () =>
      oidc.begin("http://127.0.0.1:1/auth/callback").then(
        ({ url }) => url.pathname,
        ({ code }) => code,
      );
    expect([await begun(), await begun(), await begun()]).toEqual(["unavailable", "unavailable", "/authorize"]);
  } finally {
    await issuer.stop();
  }
});
