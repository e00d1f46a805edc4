import { createPrivateKey, X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { isIP } from "node:net";
import { resolve } from "node:path";
import type { Credentials } from "../../a2a/client/credentials.ts";
import { errnoOf } from "../../core/errors.ts";
import type { Settings } from "../settings/settings.ts";
import { faultAt } from "../settings/settings-error.ts";

/** What a server listens with over TLS, in PEM form, and how the servers of this system call it. */
export type TlsConfig = {
  readonly cert: string;
  readonly key: string;
  /** Connections need a certificate that one of these authorities issued. */
  readonly clientCa: string | undefined;
  readonly client: NonNullable<Credentials["tls"]>;
};

type Read = { readonly path: string; readonly text: string };

/** The purpose "client authentication" of a certificate (RFC 5280, 4.2.1.12). */
const clientPurpose = "1.3.6.1.5.5.7.3.2";

/**
 * The certificate of this system's servers; undefined for plain HTTP. Throws `config_invalid` for
 * keys that do not belong together, and for files that are missing or are not what they should be.
 */
export function tlsConfig(settings: Settings, cwd: string): TlsConfig | undefined {
  const { cert, key, ca, client_ca, client_cert, client_key } = settings.sections.server.tls;
  const named = [cert, key, ca, client_ca, client_cert, client_key].some((one) => one !== undefined);
  if (!named) return undefined;
  const invalid = (why: string) => faultAt(settings, ["server", "tls"], why);
  const read = (name: keyof typeof settings.sections.server.tls, file: string, check: (text: string) => unknown) => {
    const path = resolve(cwd, file);
    try {
      const text = readFileSync(path, "utf8");
      check(text);
      return { path, text };
    } catch (cause) {
      const why = errnoOf(cause) === undefined ? "it is not a PEM file of that kind" : String(errnoOf(cause));
      const said = `server.tls.${name} cannot be ${JSON.stringify(file)}: ${why} (${path}).`;
      throw faultAt(settings, ["server", "tls", name], said, { cause });
    }
  };
  const isCertificate = (text: string) => new X509Certificate(text);
  if (cert === undefined || key === undefined) throw invalid("[server.tls] has cert and key, or neither.");
  if ((client_cert === undefined) !== (client_key === undefined))
    throw invalid("[server.tls] has client_cert and client_key, or neither.");
  const own = { cert: read("cert", cert, isCertificate), key: read("key", key, createPrivateKey) };
  if (!isPair(own)) throw invalid(`server.tls.key is the key of another certificate than server.tls.cert (${cert}).`);
  const authority = ca === undefined ? undefined : read("ca", ca, isCertificate);
  const clients = client_ca === undefined ? undefined : read("client_ca", client_ca, isCertificate);
  const shown =
    client_cert === undefined || client_key === undefined
      ? own
      : {
          cert: read("client_cert", client_cert, isCertificate),
          key: read("client_key", client_key, createPrivateKey),
        };
  if (!isPair(shown)) throw invalid("server.tls.client_key is the key of another certificate than client_cert.");
  if (clients !== undefined && !isForClients(shown.cert.text))
    throw invalid(
      `server.tls.${client_cert === undefined ? "cert" : "client_cert"} cannot be shown to our own servers, which ask for a certificate: it is not issued for clients. Set client_cert and client_key.`,
    );
  return {
    cert: own.cert.text,
    key: own.key.text,
    clientCa: clients?.text,
    client: {
      ...trusted(own.cert, authority),
      ...(clients !== undefined && { cert: shown.cert.path, key: shown.key.path }),
    },
  };
}

/**
 * Whom our own clients trust as our servers: who has a certificate for the first name of theirs,
 * since servers reach each other at other addresses than the one it was issued for.
 */
function trusted(own: Read, authority: Read | undefined): TlsConfig["client"] {
  const certificate = new X509Certificate(own.text);
  const ca = authority?.path ?? (certificate.checkIssued(certificate) ? own.path : undefined);
  const name = /(?:DNS|IP Address):([^,\s]+)/.exec(certificate.subjectAltName ?? "")?.[1];
  // A wildcard stands for any one label.
  const serverName = name === undefined || isIP(name) !== 0 ? name : name.replace(/^\*/, "manyhands");
  return { ...(ca !== undefined && { ca }), ...(serverName !== undefined && { serverName }) };
}

function isPair({ cert, key }: { readonly cert: Read; readonly key: Read }): boolean {
  return new X509Certificate(cert.text).checkPrivateKey(createPrivateKey(key.text));
}

/** A certificate without purposes is good for all of them. */
function isForClients(cert: string): boolean {
  const purposes: readonly string[] | undefined = new X509Certificate(cert).keyUsage;
  return purposes === undefined || purposes.includes(clientPurpose);
}
