import { readTls } from "../../a2a/client/credentials.ts";
import { isSameServer } from "../../a2a/client/server-address.ts";
import type { Config } from "../../config/config.ts";
import { ownAddress } from "../../config/own-address.ts";
import type { OwnTls } from "../../machine/egress/connect.ts";

/**
 * How the servers of this system are recognised where requests go anywhere, such as notifications:
 * by the authority of their certificate too, and they are shown ours. Undefined without TLS.
 */
export function openOwnTls({
  server,
  gateway,
  agents,
}: Pick<Config, "server" | "gateway" | "agents">): OwnTls | undefined {
  const { tls, host, publicUrl } = server;
  if (tls === undefined) return undefined;
  const own = Object.values(agents).filter(({ isOwn }) => isOwn);
  const places = [
    ownAddress({ host, tls: true }, gateway.port),
    gateway.publicUrl,
    publicUrl,
    ...own.flatMap((agent) => [agent.url, agent.publicUrl]),
  ].filter((place) => place !== undefined);
  const { serverName } = tls.client;
  return async (url) => {
    if (!places.some((place) => isSameServer(place, url))) return undefined;
    // Loaded here: it reads every root certificate, which is a tenth of a start.
    const { rootCertificates } = await import("node:tls");
    const { ca, cert, key } = (await readTls(tls.client)) ?? {};
    return {
      cert,
      key,
      // A proxy in front of a server may have a certificate that everybody trusts.
      ...(ca !== undefined && { ca: [...rootCertificates, ca] }),
      names: serverName === undefined ? [] : [serverName],
    };
  };
}
