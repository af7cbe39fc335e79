import { execFile } from 'node:child_process';
import { mkdtemp, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

interface Certificate {
  readonly keyFile: string;
  readonly certificateFile: string;
  readonly certificate: string;
}

/** A certificate for this host that no authority has signed. */
export async function makeCertificate(host = 'localhost'): Promise<Certificate> {
  const folder = await mkdtemp(join(tmpdir(), 'whizbang-certificate-'));
  const [keyFile, certificateFile] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
  const args = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', '-subj', `/CN=${host}`];
  await promisify(execFile)('openssl', [
    ...args,
    '-addext',
    `subjectAltName=DNS:${host}`,
    '-keyout',
    keyFile,
    '-out',
    certificateFile,
  ]);
  return { keyFile, certificateFile, certificate: await readFile(certificateFile, 'utf8') };
}
