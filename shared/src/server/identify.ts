import { timingSafeEqual } from "node:crypto";
import type { AgentFacts } from "../a2a/server/card.ts";
import { AppError } from "../core/errors.ts";

/** How a card says that the token is wanted (A2A 1.0 section 4.5). */
export const bearerSecurity = {
  securitySchemes: {
    bearer: {
      scheme: {
        $case: "httpAuthSecurityScheme",
        value: { scheme: "Bearer", bearerFormat: "", description: "The token this server was started with." },
      },
    },
  },
  securityRequirements: [{ schemes: { bearer: { list: [] } } }],
} satisfies AgentFacts["security"];

/** Everyone who may use a server that knows one secret, or none, is the same principal. */
const principal = "local";

/**
 * Who sends a request. With a token configured it must be carried as `Authorization: Bearer …`; rejects with `unauthorized` where it is
 * missing or wrong.
 */
export function identifyBy(token: string | undefined): (request: Request) => string {
  if (token === undefined) return () => principal;
  const expected = digest(token);
  return (request) => {
    const [scheme, given] = request.headers.get("authorization")?.split(" ", 2) ?? [];
    const right = scheme?.toLowerCase() === "bearer" && given !== undefined && timingSafeEqual(digest(given), expected);
    if (!right) throw new AppError("unauthorized", "Send this server's token as `Authorization: Bearer TOKEN`.");
    return principal;
  };
}

function digest(text: string): Uint8Array {
  return new Bun.CryptoHasher("sha256").update(text).digest();
}
