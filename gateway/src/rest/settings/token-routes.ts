import type { AuthStore, ListedToken } from "manyhands/internal/auth/auth-store";
import { tokenName } from "manyhands/internal/auth/token-name";
import { scopes } from "manyhands/internal/core/caller";
import * as z from "zod";
import type { RestEndpoint } from "../endpoint.ts";
import { operatorEndpoint } from "./operator-endpoint.ts";

const scope = z.enum(scopes);

const tokenSchema = z
  .object({
    name: z.string(),
    principal: z.string(),
    scopes: z.array(scope),
    createdAt: z.iso.datetime(),
    expiresAt: z.iso.datetime().exactOptional(),
    usedAt: z.iso.datetime().exactOptional().describe("To the minute."),
  })
  .meta({ id: "Token" });

/** What the token routes need. */
export type TokenRoutesDeps = {
  readonly tokens: Pick<AuthStore, "add" | "list" | "revoke">;
  /** Whether the servers ask for tokens at all. */
  readonly asksForTokens: boolean;
};

const dayMs = 86_400_000;

/** `/settings/tokens` and the routes below it. */
export function tokenRoutes({ tokens, asksForTokens }: TokenRoutesDeps): RestEndpoint[] {
  const list = {
    method: "get",
    path: "/settings/tokens",
    summary: "The tokens of callers, without their secrets",
    request: {},
    answers: {
      200: {
        description: "The tokens.",
        body: z.object({
          tokens: z.array(tokenSchema),
          count: z.boolean().describe("False where servers ask nobody for a token."),
        }),
      },
    },
    problems: [],
  } as const;
  const body = z.strictObject({
    name: z.string().regex(tokenName, "has up to 100 letters, digits and . _ - @"),
    principal: z.string().min(1).max(200).exactOptional().describe("Whose it is; its name when left out."),
    scopes: z.array(scope).min(1).max(3).default(["read", "run"]),
    days: z.int().min(1).max(3650).exactOptional().describe("It expires after so many days; never when left out."),
  });
  const add = {
    method: "post",
    path: "/settings/tokens",
    summary: "Makes a token and shows its secret, this once",
    request: { body },
    answers: {
      201: { description: "The secret.", body: z.object({ name: z.string(), secret: z.string() }) },
    },
    problems: [409],
  } as const;
  const revoke = {
    method: "delete",
    path: "/settings/tokens/{name}",
    summary: "Revokes a token, at every server at once",
    request: { params: z.object({ name: z.string().min(1).max(100) }) },
    answers: { 204: { description: "Revoked." } },
    problems: [404],
  } as const;
  return [
    operatorEndpoint(list, async (_, c) =>
      c.json({ tokens: (await tokens.list()).map(tokenView), count: asksForTokens }),
    ),
    operatorEndpoint(add, async ({ body: { name, principal = name, scopes, days } }, c) => {
      const lifeMs = days === undefined ? {} : { lifeMs: days * dayMs };
      return c.json({ name, secret: await tokens.add({ name, principal, scopes, ...lifeMs }) }, 201);
    }),
    operatorEndpoint(revoke, async ({ params }, c) => {
      await tokens.revoke(params.name);
      return c.body(null, 204);
    }),
  ];
}

function tokenView({ createdAt, expiresAt, usedAt, ...token }: ListedToken) {
  return {
    ...token,
    createdAt: dated(createdAt),
    ...(expiresAt !== undefined && { expiresAt: dated(expiresAt) }),
    ...(usedAt !== undefined && { usedAt: dated(usedAt) }),
  };
}

const dated = (at: number) => new Date(at).toISOString();
