/**
 * Whether TLS failed: by an error of OpenSSL, or because the certificate does not pass. Errors of the network have codes of
 * the system, as ECONNREFUSED.
 */
export function isTlsError(error: unknown): boolean {
  for (let each = error; each instanceof Error; each = each.cause) {
    const { code } = each as Error & { readonly code?: unknown };
    if (typeof code !== 'string') continue;
    if (
      code === 'EPROTO' ||
      /^ERR_(SSL|TLS)_|CERT|^UNABLE_TO_|^HOSTNAME_MISMATCH|_SIGNATURE|^CRL_/.test(code)
    )
      return true;
  }
  return false;
}
