import { formatPath } from '../core/path.ts';
import type { Folder } from './folder.ts';
import type { LoadOptions } from './load.ts';
import type { Report } from './problems.ts';
import type { ResolvedResource } from './resource.ts';
import { ABSENT, checkSecret, type SecretPlace } from './secrets.ts';
import { positionOf } from './source.ts';

/**
 * Reports every place that uses a secret which no stack may have; with `check`, also those which cannot be had now.
 */
export function checkSecrets(
  resources: readonly ResolvedResource[],
  folder: Folder,
  { env, secrets: wanted }: Pick<LoadOptions, 'env' | 'secrets'>,
  report: Report,
) {
  for (const { address, secrets } of resources) {
    for (const { source, path, place } of secrets) {
      const words = checkSecret(source, env, folder);
      if (words === undefined || (wanted === 'skip' && ABSENT.has(words.rule))) continue;
      const field = formatPath(path);
      report.add({
        ...words,
        message: `${address}: ${field} ${words.message}`,
        address,
        path: field,
        place,
      });
    }
  }
}

/** Every place of the stack that uses a secret. */
export function secretPlaces(resources: readonly ResolvedResource[]): readonly SecretPlace[] {
  return resources.flatMap(({ address, secrets }) =>
    secrets.map(({ source, path, place }) => ({
      source,
      address,
      path: formatPath(path),
      position: positionOf(place),
    })),
  );
}
