import type { OperationId } from '../api/operations.generated.ts';
import { type Answer, coded, flat } from './answer.ts';
import type { Dialect } from './dialect.ts';

/**
 * What the platform answers when it fails through no fault of the caller: 429, 500, 502 and 503 (Errors).
 * Other statuses come without a body.
 */
export function failure(dialect: Dialect, operation: string, status: number): Answer {
  switch (status) {
    case 429:
      return tooMany(dialect);
    case 500:
      return coded(500, 'internal_error', 'Something failed inside the platform').answer;
    case 502:
      return PAYMENTS.some((id) => id === operation)
        ? flat(502, 'Failed to load payment status').answer
        : coded(502, 'upstream_error', 'A service behind the platform failed').answer;
    case 503:
      return coded(
        503,
        operation === 'listFeatures' ? 'service_unavailable' : 'temporarily_unavailable',
        'Nothing was done; try again',
      ).answer;
    default:
      return { status };
  }
}

const PAYMENTS: readonly OperationId[] = ['getPaymentReadiness', 'setPaymentTool'];

/** The body of a 429 is not specified (Errors). */
function tooMany({ limitBody }: Dialect): Answer {
  switch (limitBody) {
    case 'coded':
      return coded(429, 'rate_limited', 'Too many requests; wait before the next one').answer;
    case 'text':
      return { status: 429, text: 'Too Many Requests', type: 'text/plain; charset=utf-8' };
    case 'empty':
      return { status: 429 };
  }
}
