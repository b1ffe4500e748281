import { describeApiError, isNotFound } from '../../api/errors.ts';
import { CallsheetError } from '../../core/errors.ts';
import type { Found } from './find.ts';

/** Does something with a resource; where the platform does not have it, says so as the person called it. */
export async function onPlatform<T>(
  noun: string,
  { id, label }: Found,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!isNotFound(error)) throw error;
    const named = label === id ? id : `${label} (${id})`;
    const message = `there is no ${noun} ${named} that the key reaches: ${describeApiError(error)}`;
    const { hint } = error;
    throw new CallsheetError('api', message, {
      ...(hint === undefined ? {} : { hint }),
      cause: error,
    });
  }
}
