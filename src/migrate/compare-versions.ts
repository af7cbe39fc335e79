/** Orders two versions as semver does: negative when `a` is older. Build metadata does not count. */
export function compareVersions(a: string, b: string): number {
  const [left, right] = [parse(a), parse(b)];
  const numbers = compareParts(left.numbers, right.numbers);
  if (numbers !== 0) return numbers;
  // 1.0.0-beta comes before 1.0.0.
  if (left.prerelease.length === 0 || right.prerelease.length === 0) {
    return right.prerelease.length - left.prerelease.length;
  }
  return compareParts(left.prerelease, right.prerelease);
}

function parse(version: string): { numbers: string[]; prerelease: string[] } {
  const [core = ''] = version.split('+');
  const dash = core.indexOf('-');
  return dash < 0
    ? { numbers: core.split('.'), prerelease: [] }
    : { numbers: core.slice(0, dash).split('.'), prerelease: core.slice(dash + 1).split('.') };
}

function compareParts(a: string[], b: string[]): number {
  for (let i = 0; i < Math.max(a.length, b.length); i++) {
    const [x, y] = [a[i], b[i]];
    if (x === undefined || y === undefined) return x === undefined ? -1 : 1;
    const [xIsNumber, yIsNumber] = [/^\d+$/.test(x), /^\d+$/.test(y)];
    if (xIsNumber && yIsNumber) {
      if (Number(x) !== Number(y)) return Number(x) - Number(y);
    } else if (xIsNumber !== yIsNumber) return xIsNumber ? -1 : 1;
    else if (x !== y) return x < y ? -1 : 1;
  }
  return 0;
}
