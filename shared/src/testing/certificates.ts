import { writeFile } from "node:fs/promises";
import { join } from "node:path";

/** Whether tests can make certificates here; Debian's package is `openssl`. */
export const hasOpenssl = Bun.which("openssl") !== null;

/** Makes certificates below one authority of its own, whose file is `ca.pem`. */
export type TestAuthority = {
  /** Writes `NAME.pem` and `NAME.key`, for servers and clients unless `usage` says otherwise. */
  issue(name: string, subject: { readonly names: string; readonly usage?: string }): Promise<void>;
};

const key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];

/** An authority with its files in `folder`. */
export async function testAuthority(folder: string): Promise<TestAuthority> {
  const openssl = async (...args: string[]) => {
    const child = Bun.spawn(["openssl", ...args], { cwd: folder, stdout: "ignore", stderr: "pipe" });
    const said = await child.stderr.text();
    if ((await child.exited) !== 0) throw new Error(said);
  };
  await openssl("req", "-x509", ...key, "-keyout", "ca.key", "-out", "ca.pem", "-days", "2", "-subj", "/CN=Test CA");
  return {
    async issue(name, { names, usage = "serverAuth,clientAuth" }) {
      await openssl("req", "-new", ...key, "-keyout", `${name}.key`, "-out", `${name}.csr`, "-subj", `/CN=${name}`);
      const extensions = `subjectAltName=${names}\nextendedKeyUsage=${usage}\nbasicConstraints=CA:FALSE\n`;
      await writeFile(join(folder, `${name}.ext`), extensions);
      const issuer = ["-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-days", "2"];
      const files = ["-in", `${name}.csr`, "-extfile", `${name}.ext`, "-out", `${name}.pem`];
      await openssl("x509", "-req", ...issuer, ...files);
    },
  };
}
