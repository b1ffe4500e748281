import type { Answer, Ask, Exchange } from '../../../src/features/stores/remote/exchange.ts';
import type { Opening } from '../../state/stores/contract.ts';

/** Requests of which some fail: before they are sent, or after they were carried out. */
export function faultyExchange(exchange: Exchange, fault: Opening['fault']): Exchange {
  let step = 0;
  return {
    ...exchange,
    async send(ask: Ask): Promise<Answer> {
      step += 1;
      const found = await fault?.(step);
      if (found !== undefined && !found.done) throw found.error();
      const answer = await exchange.send(ask);
      if (found !== undefined) throw found.error();
      return answer;
    },
  };
}

/** What undici says of a connection that broke. */
export function lostConnection(): Error {
  return Object.assign(new Error('other side closed'), { code: 'UND_ERR_SOCKET' });
}
