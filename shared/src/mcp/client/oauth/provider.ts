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
  /** Where a browser is sent back to; undefined where nobody is there to sign in. */
  readonly redirectUrl: string | undefined;
  /** What is asked for, where the server or the entry says so. */
  readonly scope?: string;
  /** Shows the address to open. */
  readonly show: (address: string) => void;
};

/** What the client asks of us while it signs in to one server. */
export type Provider = OAuthClientProvider & {
  /** The state that the browser has to bring back. */
  expectedState(): string;
};

/**
 * Keeps the tokens of one server in the store and shows addresses only where they are fit to be
 * opened; one for each attempt to sign in.
 */
export function createProvider(server: RemoteServer, store: CredentialStore, options: Options): Provider {
  const { redirectUrl, show } = options;
  const state = crypto.randomUUID();
  const signsIn = redirectUrl !== undefined;
  // The client takes one that has no place to come back to for one that needs no person at all.
  const back = redirectUrl ?? "http://127.0.0.1/callback";
  let verifier = "";
  let registered: StoredOAuthClientInformation | undefined;
  let discovered: OAuthDiscoveryState | undefined;
  const { clientId, clientSecret, scope } = server.oauth;
  // Such an id is the address of what is known of the client, for those who look there; others have
  // it registered.
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
      // A client is registered for each signing in anew, as its address to come back to has another
      // port.
      return signsIn ? registered : ((await store.read(server))?.client as StoredOAuthClientInformation | undefined);
    },
    saveClientInformation(client) {
      registered = client;
    },
    // To sign in anew is not to renew what there is.
    tokens: async () => (signsIn ? undefined : ((await store.read(server))?.tokens as StoredOAuthTokens | undefined)),
    async saveTokens(tokens) {
      const before = await store.read(server);
      const client = registered ?? before?.client;
      // One that names no scope is for what was asked for.
      const scope = tokens.scope ?? options.scope ?? before?.tokens?.scope;
      const kept = { ...tokens, ...(scope !== undefined && { scope }) };
      await store.write(server, { tokens: kept, ...(client && { client: { ...client } }) });
    },
    redirectToAuthorization(address) {
      // As the server told it: what a client makes of it is encoded anew.
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

/** The address as a person may be told to open it: by https, or on this machine. */
function fitToOpen(address: URL): string {
  const local = ["127.0.0.1", "[::1]", "localhost"].includes(address.hostname);
  const fits = address.protocol === "https:" || (address.protocol === "http:" && local);
  if (!fits || address.username !== "" || address.password !== "") throw unfit();
  checkText(address.href);
  return address.href;
}

/** An address is of characters that no shell takes for its own, whoever opens it. */
function checkText(address: string): void {
  if (!/^[\w.~:/?#[\]@!*+,=&%-]+$/.test(address)) throw unfit();
}

function unfit(): AppError {
  return new AppError("forbidden", "it wants an address opened for signing in that is not fit to be opened.");
}
