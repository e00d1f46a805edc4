/** How the proxy names itself in `Proxy-Status`. */
export const proxyName = "manyhands";

/** A URL that the proxy answers itself, with an empty page, for clients with credentials. */
export const proxyGreeting = "http://proxy.invalid/";
