import { AppError } from "../../core/errors.ts";

/** A proxy of the operator's, as it is configured: a URL with or without credentials, or the credentials apart. */
export type UpstreamProxy = {
  readonly server: string;
  readonly username?: string | undefined;
  readonly password?: string | undefined;
};

/** The same, ready to be used. */
export type Upstream = { readonly url: URL; readonly authorization: string | undefined };

/** Throws `config_invalid` for what is no HTTP proxy. `HOST:PORT` is taken for an http one. */
export function parseUpstream({ server, username, password }: UpstreamProxy): Upstream {
  const url = URL.parse(server.includes("://") ? server : `http://${server}`);
  if (url === null || (url.protocol !== "http:" && url.protocol !== "https:"))
    throw new AppError(
      "config_invalid",
      `The proxy ${server} is not the address of an HTTP proxy (http:// or https://).`,
    );
  const user = username ?? decodeURIComponent(url.username);
  const secret = password ?? decodeURIComponent(url.password);
  const authorization =
    user === "" && secret === "" ? undefined : `Basic ${Buffer.from(`${user}:${secret}`).toString("base64")}`;
  url.username = "";
  url.password = "";
  return { url, authorization };
}
