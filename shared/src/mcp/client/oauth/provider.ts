import type {
  OAuthClientProvider,
  OAuthDiscoveryState,
  StoredOAuthClientInformation,
  StoredOAuthTokens,
} from "@modelcontextprotocol/client";
import { AppError } from "../../../core/errors.ts";
import type { RemoteServer } from "../servers/server-config.ts";
import type { CredentialStore } from "./credential-store.ts";

type Options = {
  /** The URL the browser returns to; undefined if nobody is there to sign in. */
  readonly redirectUrl: string | undefined;
  /** The scope to request, if the server or the entry specifies one. */
  readonly scope?: string;
  /** Shows the URL to open. */
  readonly show: (address: string) => void;
};

/** The callbacks through which the client signs in to one server. */
export type Provider = OAuthClientProvider & {
  /** The state that the browser must return. */
  expectedState(): string;
};

/**
 * Stores one server's tokens, and shows only URLs that are safe to open. Create one for each
 * attempt to sign in.
 */
export function createProvider(server: RemoteServer, store: CredentialStore, options: Options): Provider {
  const { redirectUrl, show } = options;
  const state = crypto.randomUUID();
  const signsIn = redirectUrl !== undefined;
  // The client takes a provider without a redirect URL to need no person at all.
  const back = redirectUrl ?? "http://127.0.0.1/callback";
  let verifier = "";
  let registered: StoredOAuthClientInformation | undefined;
  let discovered: OAuthDiscoveryState | undefined;
  const { clientId, clientSecret, scope } = server.oauth;
  // An https client id is the URL of the client's metadata, for servers that support it; with
  // others the client registers.
  const metadataUrl = clientId?.startsWith("https://") ? clientId : undefined;
  return {
    redirectUrl: back,
    ...(metadataUrl !== undefined && { clientMetadataUrl: metadataUrl }),
    clientMetadata: {
      client_name: "Manyhands",
      redirect_uris: [back],
      grant_types: ["authorization_code", "refresh_token"],
      response_types: ["code"],
      token_endpoint_auth_method: "none",
      ...(scope !== undefined && { scope }),
    },
    state: () => state,
    expectedState: () => state,
    async clientInformation() {
      if (clientId !== undefined && metadataUrl === undefined)
        return { client_id: clientId, ...(clientSecret !== undefined && { client_secret: clientSecret }) };
      // Each sign-in registers a new client, because its redirect URL has a new port.
      return signsIn ? registered : ((await store.read(server))?.client as StoredOAuthClientInformation | undefined);
    },
    saveClientInformation(client) {
      registered = client;
    },
    // A new sign-in does not renew existing tokens.
    tokens: async () => (signsIn ? undefined : ((await store.read(server))?.tokens as StoredOAuthTokens | undefined)),
    async saveTokens(tokens) {
      const before = await store.read(server);
      const client = registered ?? before?.client;
      // A token without a scope has the requested one.
      const scope = tokens.scope ?? options.scope ?? before?.tokens?.scope;
      const kept = { ...tokens, ...(scope !== undefined && { scope }) };
      await store.write(server, { tokens: kept, ...(client && { client: { ...client } }) });
    },
    redirectToAuthorization(address) {
      // Checks the URL as the server sent it, since the client re-encodes it.
      checkText(discovered?.authorizationServerMetadata?.authorization_endpoint ?? address.href);
      show(fitToOpen(address));
    },
    saveCodeVerifier(text) {
      verifier = text;
    },
    codeVerifier: () => verifier,
    saveDiscoveryState(found) {
      discovered = found;
    },
    discoveryState: () => discovered,
    async invalidateCredentials(what) {
      if (!signsIn && (what === "all" || what === "tokens")) await store.write(server, undefined);
    },
  };
}

/** The URL, if it is safe to open: https, or on this machine. */
function fitToOpen(address: URL): string {
  const local = ["127.0.0.1", "[::1]", "localhost"].includes(address.hostname);
  const fits = address.protocol === "https:" || (address.protocol === "http:" && local);
  if (!fits || address.username !== "" || address.password !== "") throw unfit();
  checkText(address.href);
  return address.href;
}

/** Allows only characters that no shell interprets, whatever opens the URL. */
function checkText(address: string): void {
  if (!/^[\w.~:/?#[\]@!*+,=&%-]+$/.test(address)) throw unfit();
}

function unfit(): AppError {
  return new AppError("forbidden", "it wants to open a sign-in address that is not safe to open.");
}
