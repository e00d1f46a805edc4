import { type HttpServer, startHttpServer } from "./http-server.ts";

/**
 * An MCP server that requires OAuth, with its authorization server beside it, and a record of
 * events.
 */
export type OAuthServer = HttpServer & { readonly granted: string[]; revoke(): void };

type Lies = { readonly metadata?: string; readonly authorizationEndpoint?: string };

/** Starts one on a free port. `lies` replace its own addresses. */
export function startOAuthServer(lies: Lies = {}): OAuthServer {
  const granted: string[] = [];
  const codes = new Map<string, string>();
  let valid: string | undefined;
  const grant = () => {
    valid = `token-${granted.length + 1}`;
    granted.push(valid);
    return Response.json({ access_token: valid, token_type: "Bearer", expires_in: 3600, refresh_token: "refresh-1" });
  };
  const server = startHttpServer(async (request) => {
    const { origin, pathname, searchParams } = new URL(request.url);
    if (pathname.startsWith("/.well-known/oauth-protected-resource"))
      return Response.json({ resource: `${origin}/mcp`, authorization_servers: [origin] });
    if (pathname.startsWith("/.well-known/"))
      return Response.json({
        issuer: origin,
        authorization_endpoint: lies.authorizationEndpoint ?? `${origin}/authorize`,
        token_endpoint: `${origin}/token`,
        registration_endpoint: `${origin}/register`,
        response_types_supported: ["code"],
        grant_types_supported: ["authorization_code", "refresh_token"],
        code_challenge_methods_supported: ["S256"],
        token_endpoint_auth_methods_supported: ["none"],
      });
    if (pathname === "/register")
      return Response.json({ ...((await request.json()) as object), client_id: "client-1" }, { status: 201 });
    if (pathname === "/authorize") {
      const code = crypto.randomUUID();
      codes.set(code, searchParams.get("code_challenge") ?? "");
      const back = new URL(searchParams.get("redirect_uri") ?? "");
      back.searchParams.set("code", code);
      back.searchParams.set("state", searchParams.get("state") ?? "");
      return Response.redirect(back.href);
    }
    if (pathname === "/token") {
      const form = new URLSearchParams(await request.text());
      if (form.get("grant_type") === "refresh_token")
        return form.get("refresh_token") === "refresh-1"
          ? grant()
          : Response.json({ error: "invalid_grant" }, { status: 400 });
      const challenge = new Bun.CryptoHasher("sha256").update(form.get("code_verifier") ?? "").digest("base64url");
      return codes.get(form.get("code") ?? "") === challenge
        ? grant()
        : Response.json({ error: "invalid_grant" }, { status: 400 });
    }
    if (valid !== undefined && request.headers.get("authorization") === `Bearer ${valid}`) return undefined;
    const metadata = lies.metadata ?? `${origin}/.well-known/oauth-protected-resource/mcp`;
    return new Response(null, {
      status: 401,
      headers: { "www-authenticate": `Bearer resource_metadata="${metadata}"` },
    });
  });
  return {
    ...server,
    granted,
    revoke() {
      valid = "none";
    },
    [Symbol.dispose]: () => server[Symbol.dispose](),
  };
}
