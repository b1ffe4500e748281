import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import type { Callout } from '../../../src/core/plan-document.ts';
import {
  createCalloutFinder,
  findCallouts,
} from '../../../src/features/review/callouts/callouts.ts';
import { calloutWords } from '../../../src/render/prose/callout-words.ts';

type Edit = { readonly name: string; readonly edit: string; readonly tell: readonly string[] };

const FILE = new URL('./callouts.corpus.yaml', import.meta.url);
const edits: readonly Edit[] = parse(readFileSync(FILE, 'utf8'));

/** Of what is told, so much has to be wanted; of what is wanted, so much has to be told. */
const LEAST = { precision: 0.9, recall: 0.9 };

function textsOf(edit: string): readonly [before: string, after: string] {
  const removed = /\[-(.*?)-\]/gsu;
  const added = /\{\+(.*?)\+\}/gsu;
  return [
    edit.replace(added, '').replace(removed, '$1'),
    edit.replace(removed, '').replace(added, '$1'),
  ];
}

function valueWords({ before, after }: Callout): string {
  return `${before ?? ''} → ${after ?? ''}`.trim();
}

const INSTRUCTIONS: readonly Callout['sort'][] = [
  'reversed',
  'removed',
  'added',
  'changed',
  'moved',
];

function wordsOf({ sort, before, after }: Callout): string {
  const sides = [before, after].filter((text) => text !== null);
  if (sort === 'moved') return `instruction moved: ${after}`;
  if (INSTRUCTIONS.includes(sort)) return `instruction ${sort}: ${sides.join(' → ')}`;
  const to = sort === 'transfer' ? 'transfer to ' : '';
  if (before === null) return `new: ${to}${after}`;
  if (after === null) return `gone: ${to}${before}`;
  return before === after ? `moved: ${after}` : `${to}${before} → ${after}`;
}

test('call-outs say what a reviewer wants to be told of the corpus', () => {
  const misses: string[] = [];
  let [right, wrong, missed] = [0, 0, 0];
  for (const { name, edit, tell } of edits) {
    const told = findCallouts(...textsOf(edit)).map(wordsOf);
    const waiting = [...tell];
    for (const one of told) {
      const at = waiting.indexOf(one);
      if (at >= 0) waiting.splice(at, 1);
      else misses.push(`${name}: told ${one}`);
      if (at >= 0) right += 1;
      else wrong += 1;
    }
    missed += waiting.length;
    misses.push(...waiting.map((one) => `${name}: not told ${one}`));
  }
  const precision = right / (right + wrong);
  const recall = right / (right + missed);
  const figures = `${edits.length} edits: precision ${precision.toFixed(3)}, recall ${recall.toFixed(3)}`;
  process.stdout.write(`${[figures, ...misses].join('\n  ')}\n`);
  expect(precision, misses.join('\n')).toBeGreaterThanOrEqual(LEAST.precision);
  expect(recall, misses.join('\n')).toBeGreaterThanOrEqual(LEAST.recall);
});

describe('a call-out', () => {
  test.each<[string, string, string, readonly (readonly (string | null)[])[]]>([
    [
      'a token',
      'Hi {{name}}, welcome',
      'Hi {{first}}, welcome',
      [['token', '{{name}}', '{{first}}']],
    ],
    ['a token that is gone', 'Hi {{name}}, welcome', 'Hi, welcome', [['token', '{{name}}', null]]],
    [
      'a tool',
      'Use crm_lookup at first',
      'Use crm_search at first',
      [['tool', 'crm_lookup', 'crm_search']],
    ],
    [
      'a tool in backticks',
      'Use `lookup` at first',
      'Use `search` at first',
      [['tool', 'lookup', 'search']],
    ],
    [
      'a number',
      'Wait 30 minutes for it',
      'Wait 45 minutes for it',
      [['number', '30 minutes', '45 minutes']],
    ],
    [
      'a price',
      'It costs $1,200.50 a year',
      'It costs $1,300 a year',
      [['number', '$1,200.50', '$1,300']],
    ],
    [
      'a time of day',
      'We open at 9:30 today',
      'We open at 10am today',
      [['number', '9:30', '10am']],
    ],
    [
      'a number in words',
      'Offer two times',
      'Offer three times',
      [['number', 'two times', 'three times']],
    ],
    [
      'a phone number',
      'Call 555-0100 for it',
      'Call 555-0199 for it',
      [['phone', '555-0100', '555-0199']],
    ],
    ['nothing where words only moved on', 'We never do it', 'We really never do it', []],
    ['nothing of a negation in other letters', 'Never do it here', 'never do it there', []],
  ])('%s', (_, before, after, calls) => {
    const callouts = findCallouts(before, after);
    expect(callouts.map((one) => [one.sort, one.before, one.after])).toEqual(calls);
  });

  test.each<[Callout['sort'], string, string, string]>([
    ['reversed', 'do, do not', 'Do quote a price', 'Do not quote a price'],
    ['reversed', 'do not, do', 'You do not quote a price', 'You do quote a price'],
    ['reversed', "do, don't", 'We do quote a price', "We don't quote a price"],
    ['reversed', 'may, must not', 'You may quote a price', 'You must not quote a price'],
    ['reversed', 'never, always', 'You never quote prices', 'You always quote prices'],
    ['reversed', 'nunca, siempre', 'Siempre diga el precio', 'Nunca diga el precio'],
    ['reversed', 'accept, decline', 'Accept cash from guests', 'Decline cash from guests'],
    ['reversed', 'who, not who', 'The vet says so, not you', 'You say so, not the vet'],
    ['reversed', 'what a list is', 'You may:\n- wave fees', 'You must not:\n- wave fees'],
    ['changed', 'must, should', 'You must quote a price', 'You should quote a price'],
    ['changed', 'before, after', 'Ask before you pay out', 'Ask after you pay out'],
    ['changed', 'and, or', 'Ask for name and age', 'Ask for name or age'],
    ['changed', 'if, unless', 'Book it if they paid', 'Book it unless they paid'],
  ])('is %s: %s', (sort, _, before, after) => {
    expect(findCallouts(before, after)).toMatchObject([{ sort }]);
  });

  test.each<[string, string]>([
    [
      'Never end a call without asking for the name.',
      'Always ask for the name before you end a call.',
    ],
    ['Do not look it up unless they gave the number.', 'Only look it up if they gave the number.'],
    ['Do not accept more than 8 guests.', 'Accept at most 8 guests.'],
    ['Do not pay before they sign.', 'Only pay after they sign.'],
    [
      "Take the caller's name, write down the flight number and find out how many bags are missing.",
      "Collect the following:\n- the caller's name\n- the flight number\n- the number of missing bags",
    ],
    [
      'Pregunta por el tipo de escritura, cuándo la necesitan y quién firma.',
      'Hay que preguntar:\n1. qué tipo de escritura es\n2. cuándo la necesitan\n3. quién firma',
    ],
    [
      'People like to ask for discounts. Do not give them any.',
      'Do not give discounts, even if people ask for them.',
    ],
    ['Cats? Sorry, dogs only.', 'We groom dogs only, no cats.'],
    ['Without a badge nobody may enter.', 'A badge is required to enter.'],
    ['Sin receta no se entrega nada.', 'La receta es obligatoria para entregar.'],
    [
      'You are not to discuss a case with anyone but the parents.',
      'Discuss a case with the parents and with nobody else.',
    ],
    [
      "Lenses can't be ordered if the last eye test is older than a year.",
      'Lenses can only be ordered when the last eye test is no older than a year.',
    ],
    ['Do not quote more than an acre.', 'Do not quote more than one acre.'],
    ['Doors open an hour before the show.', 'Doors open 60 minutes before the show.'],
    ['The fridge has to be under 8 °C.', 'The fridge has to be under 8 degrees Celsius.'],
    [
      'Pets? Yes, but only downstairs, and it is $15 a night.',
      'Pets are allowed downstairs only and cost $15 per night.',
    ],
    ['La puesta a punto tarda 1 día.', 'La puesta a punto tarda un día.'],
    ['It takes half an hour, Monday to Friday.', 'It takes 30 minutes on weekdays.'],
    ['From June 1 to August 31, 9 am–5 pm.', '1 June to 31 August, from 9:00 to 17:00.'],
    ['Clinic 1 takes Visa.', 'Visa is taken at Clinic 1.'],
    ['Do not start without the customer number.', 'Start only once you have the customer number.'],
    ['Never hang up without giving a case number.', 'Give a case number before you hang up.'],
    [
      "Don't transfer the call until you have the name.",
      'Get the name first, then transfer the call.',
    ],
    ['Should the caller be upset, stay calm.', 'If the caller is upset, stay calm.'],
    [
      'Send a technician right away if there is water on the floor.',
      'If there is water on the floor, send a technician immediately.',
    ],
    ['Dont promise that the slides are open.', "Don't promise that the slides are open."],
    ['Nver give out the address.', 'Never give out the address.'],
    ['Ask for the tiket number.', 'Ask for the ticket number.'],
    ['The shop is open from 9 to 5.', 'The shop is open from 9 am to 5 pm.'],
    [
      "Lost tickets are replaced for five dollars; there's no replacement without the booking code.",
      'Lost tickets are replaced for $5; the booking code is required.',
    ],
    ['Tell them to skip coffee that day.', 'Remind them not to drink coffee on that day.'],
    [
      'We no longer answer questions about COVID-19 rules; say that the airline can help.',
      'Say that the airline can help with questions about COVID-19 rules, since we no longer answer them.',
    ],
    ['It is not your job to judge claims.', 'You do not judge claims.'],
    ['Refrain from giving legal advice.', 'Do not give legal advice.'],
    [
      'Ask for the name of the caller. Ask for the date of birth.',
      "Ask for the caller's name and date of birth.",
    ],
    ['Take a message when nobody is free.', 'If no one is available, take a message.'],
    ['It is important that you confirm the spelling.', 'Confirm the spelling.'],
    ['The pool can be used by members only.', 'Only members can use the pool.'],
    [
      'If the line is bad, ask the caller to call again.',
      'When the connection is poor, ask callers to call again.',
    ],
    ['End the call politely.', 'Finish the call in a polite way.'],
    ['Speak slowly.', 'Talk slowly and clearly.'],
    ['Deliveries cannot be made on Sundays.', 'There are no deliveries on Sundays.'],
    ['We are closed on public holidays.', 'On public holidays we are not open.'],
    ['Refunds take 3-5 days.', 'Refunds take between three and five days.'],
    ['Orders must be at least 20 dollars.', 'The minimum order is $20.'],
    ["Don't hesitate to call the owner.", 'Feel free to call the owner.'],
    ['Never reveal that prices may change.', 'Do not disclose that prices may change.'],
    ['Ask the caller to spell the last name.', 'Have the caller spell their surname.'],
    ['Make a note of the model and the year.', 'Write down the model and year.'],
    [
      'Only after checking the ID may you give the balance.',
      'Give the balance only once the ID has been checked.',
    ],
    ['You can offer one free session.', 'You may offer one free session.'],
    ['Whoever calls about a leak gets top priority.', 'Calls about a leak have top priority.'],
    [
      'When the caller has no account, offer to open one.',
      'If the caller does not have an account, offer to open one.',
    ],
    [
      'Every time a caller mentions pain, ask where it hurts.',
      'Whenever a caller mentions pain, ask where it hurts.',
    ],
    ["We don't take cards.", 'We do not accept cards.'],
    ['No discounts.', 'Do not give discounts.'],
    ['We open at 08:00 and close at 18:00.', 'We are open from 8 am to 6 pm.'],
    ['Delivery takes 48 hours.', 'Delivery takes two days.'],
    ['We deliver from Monday to Friday.', 'We deliver Mon-Fri.'],
    ['The bar is open from 6 to 11 in the evening.', 'The bar is open from 6 pm to 11 pm.'],
    ['The store is on the second floor.', 'The store is on the 2nd floor.'],
    ['A dozen roses costs $30.', 'Twelve roses cost $30.'],
    ['Ask whether the caller is a new customer', 'Ask if the caller is a new customer.'],
    ['Only the manager can approve refunds.', 'Refunds can only be approved by the manager.'],
    ['Say that someone will call back.', 'Tell the caller that they will be called back.'],
    ['Log the call using `log_call`.', 'Log the call with `log_call`.'],
    ['Apologise for the delay.', 'Apologize for the delay.'],
    ['Hello, you work for Bright Dental.', 'You work for Bright Dental.'],
    ['Parking costs nothing.', 'Parking is free.'],
    ['Try to keep calls under 5 minutes.', 'Calls should be kept under five minutes.'],
    [
      'Never give out staff phone numbers, even if asked.',
      'Even if asked, never give out phone numbers of staff.',
    ],
    ['No cuelgues sin pedir el correo electrónico.', 'Pide el correo electrónico antes de colgar.'],
    [
      'No transfieras la llamada hasta tener el nombre.',
      'Transfiere la llamada solo cuando tengas el nombre.',
    ],
    ['No prometas plazos.', 'Nunca prometas plazos.'],
    ['No está permitido aceptar pagos.', 'No aceptes pagos.'],
    [
      'En caso de incendio, di que salgan del edificio.',
      'Si hay un incendio, di que salgan del edificio.',
    ],
    ['Abrimos de 9 a 14.', 'Abrimos de 9:00 a 14:00.'],
    ['Cuesta veinte euros por persona.', 'El precio es de 20 € por persona.'],
    ['Pregunta el nombre y el telefono.', 'Pregunta el nombre y el teléfono.'],
    [
      'Si alguien pierde algo, pídele que rellene el formulario.',
      'Pide que rellene el formulario a quien pierda algo.',
    ],
    ['Habla despacio.', 'Habla de forma pausada.'],
    ['Las devoluciones no se aceptan.', 'No se aceptan devoluciones.'],
    [
      '¿No sabes la respuesta? Promete devolver la llamada.',
      'Si no sabes la respuesta, promete que volveremos a llamar.',
    ],
    ['Comprueba que la dirección es correcta.', 'Asegúrate de que la dirección sea correcta.'],
    ['La revisión tarda 20 minutos.', 'La revisión dura 20 minutos.'],
    ['Asegúrate de no prometer fechas.', 'No prometas fechas.'],
    ['No compartas el número de ningún empleado.', 'No compartas los números de los empleados.'],
    ['Abrimos de lunes a viernes de 9 a 17 h.', 'Abrimos de lunes a viernes de 9:00 a 17:00.'],
    ['Cerramos a las 8 de la tarde.', 'Cerramos a las 20 h.'],
    ['La comisión es del 5 %.', 'La comisión es del cinco por ciento.'],
    ['Pregunta si tiene seguro.', 'Pregunta si está asegurado.'],
    ['Di al cliente que le llamaremos.', 'Dile al cliente que lo llamaremos.'],
    ['No hables de otros clientes.', 'Nunca comentes nada de otros clientes.'],
    ['Pide perdón por el retraso.', 'Discúlpate por el retraso.'],
    [
      'Comprueba con `ver_stock` si hay existencias.',
      'Usa `ver_stock` para comprobar si hay existencias.',
    ],
    ['No olvides dar las gracias.', 'Da las gracias.'],
    ['Transfiere las quejas a Marta.', 'Las quejas se transfieren a Marta.'],
    [
      'You are the assistant of Blue Door Hotel. You take calls day and night.',
      'You answer the phone for the Blue Door Hotel around the clock.',
    ],
    [
      'Get the name, the address and the phone number before you do anything else.',
      'First of all, ask for name, address and phone number.',
    ],
    [
      'Never tell callers what other customers pay, and do not discuss discounts.',
      'Do not discuss discounts. Never tell callers what other customers pay.',
    ],
    [
      'We are located at 12 Mill Road, right behind the station.',
      'You find us right behind the station, at 12 Mill Road.',
    ],
    [
      'Members pay $10, everyone else pays $15.',
      'The price is $10 for members and $15 for everyone else.',
    ],
    [
      'Only book a room if the caller gives a credit card.',
      'Do not book a room unless the caller gives a credit card.',
    ],
    [
      'Never promise that a part is in stock without checking.',
      'Check first before you promise that a part is in stock.',
    ],
    ['Please speak in short sentences.', 'Use short sentences.'],
    ['If there is no answer, leave a message.', 'If nobody answers, leave a message.'],
    ['You may offer a discount of ten percent.', 'You can give a 10% discount.'],
    ['The minimum age is 18.', 'Guests must be at least 18.'],
    ['Remind them to bring their ID.', 'Tell them not to forget their ID.'],
    [
      "If you do not have the answer, don't make one up.",
      'Never invent an answer that you do not have.',
    ],
    ['Ask the caller to confirm the address.', 'Get the caller to confirm the address.'],
    [
      'Speak with nobody but the account holder about the bill.',
      'Speak only with the account holder about the bill.',
    ],
    ['We cannot take payments by phone.', 'No payments can be taken over the phone.'],
    [
      'For leaks, call `page_plumber` right away.',
      'In case of a leak, use `page_plumber` immediately.',
    ],
    ['Do NOT mention prices!', 'Do not mention prices.'],
    ['Recieve payments only thru the app.', 'Receive payments only through the app.'],
    ['Your the voice of Elm Bakery.', "You're the voice of Elm Bakery."],
    ['Tu trabajo consiste en dar citas.', 'Das citas.'],
    [
      'Da los resultados únicamente al paciente.',
      'No des los resultados a nadie salvo al paciente.',
    ],
    ['Los pagos por teléfono no son posibles.', 'No se puede pagar por teléfono.'],
    ['Abrimos todos los días menos el lunes.', 'Abrimos a diario excepto los lunes.'],
    ['Si no contestan, deja un mensaje.', 'Deja un mensaje si no responden.'],
    [
      'Pase la llamada al encargado si el cliente se enfada.',
      'Si el cliente se enfada, pase la llamada al encargado.',
    ],
    ['Nuestra dirección es calle Mayor 8.', 'Estamos en la calle Mayor, 8.'],
    [
      'The last entry is a half hour before closing.',
      'The last entry is half an hour before closing.',
    ],
    ["You can't take bookings for under-18s.", 'Bookings for guests under 18 cannot be taken.'],
    ['El planchado tarda un cuarto de hora.', 'El planchado tarda 15 minutos.'],
    ['It takes a quarter of an hour.', 'It takes 15 minutes.'],
    ['It takes three quarters of an hour.', 'It takes 45 minutes.'],
    ['Tarda hora y media.', 'Tarda 90 minutos.'],
    ['Shirts are $3.50 each.', 'Shirts are three dollars and fifty cents each.'],
    ['Shirts are $3.50 each.', 'Shirts are three dollars fifty each.'],
    ['Cuesta tres euros con cincuenta.', 'Cuesta 3,50 €.'],
    ['It costs 50 cents.', 'It costs $0.50.'],
    ['The trip takes 2 hours and 15 minutes.', 'The trip takes 135 minutes.'],
    ['Espere un par de minutos.', 'Espere dos minutos.'],
    ['Wait a couple of minutes.', 'Wait two minutes.'],
    ['No alcohol for minors.', 'No alcohol for anyone under 18.'],
    ['No se admiten menores de edad.', 'No se admiten menores de 18 años.'],
    [
      'Wrap up by giving the caller the reference number.',
      'At the end, give the caller the reference number.',
    ],
    [
      "We don't do truck tires, so point those folks to Big Rig on Route 12.",
      'Truck tires are not something we do; point those callers to Big Rig on Route 12.',
    ],
    [
      'Walk-ins are OK, but let people know they may have to wait.',
      'Walk-ins are welcome, but tell people they might have to wait.',
    ],
    [
      "Don't hand the code to someone who hasn't paid.",
      'Give the code only to guests who have paid.',
    ],
    ['La primera consulta no cuesta nada.', 'La primera consulta es gratuita.'],
    ['Está prohibido dar su opinión sobre el caso.', 'No opine sobre el caso.'],
    [
      'Unless the caller is a member, ask for the voucher number.',
      'If the caller is not a member, ask for the voucher number.',
    ],
    ['Riders under 16 need a parent with them.', 'Nobody under 16 may ride without a parent.'],
    [
      'Read the order back before you finish the call.',
      'Before ending the call, repeat the order.',
    ],
    [
      "We have parking behind the house, and it's free.",
      'Free parking is available behind the house.',
    ],
    [
      'Do not promise callbacks before noon.',
      'Never promise that someone will call back before 12 pm.',
    ],
    ['Dile que la grúa tardará media hora.', 'Infórmale de que la grúa llegará en 30 minutos.'],
    ['Pida disculpas si hubo un error nuestro.', 'Si el error fue nuestro, discúlpese.'],
    [
      'Collect the delivery address, then read out the total.',
      'First get the delivery address; read out the total afterwards.',
    ],
    ['Primero pide el nombre y luego la fecha.', 'Pide la fecha después del nombre.'],
    ['Puede pagarse con tarjeta o en efectivo.', 'Aceptamos tarjeta y efectivo.'],
    ['Check-out is at twelve noon.', 'Check-out is at 12 pm.'],
    ['Abrimos a las 9 y cuarto de la mañana.', 'Abrimos a las 9:15.'],
    ['Pay within a month.', 'Pay within 30 days.'],
    ['Tardamos entre dos y tres días.', 'Tardamos 2 o 3 días.'],
    ['Tickets are 12.50 each.', 'Each ticket is $12.50.'],
    [
      'Warn the caller if the wait is longer than 20 minutes.',
      'If the wait exceeds 20 minutes, warn the caller.',
    ],
    [
      'Si nadie contesta en recepción, toma el recado.',
      'Toma nota del recado si en recepción no contesta nadie.',
    ],
    [
      'Only give the gate code to drivers with a booking.',
      "Don't give the gate code to drivers without a booking.",
    ],
    [
      'Verify the birthday, then read out the balance.',
      'After verifying the date of birth, read out the balance.',
    ],
    ['Quien llegue tarde pierde la reserva.', 'La reserva se pierde si se llega tarde.'],
  ])('is none of what comes to the same: %s', (before, after) => {
    expect(findCallouts(before, after)).toEqual([]);
  });

  test.each<[Callout['sort'], string, string]>([
    [
      'reversed',
      'Da siempre una estimación del precio.',
      'No des nunca una estimación del precio.',
    ],
    ['reversed', 'Ofrece siempre la audioguía.', 'No ofrezcas nunca la audioguía.'],
    ['reversed', 'Pide siempre el DNI.', 'No pidas jamás el DNI.'],
    [
      'reversed',
      'Nunca transfieras llamadas de la prensa.',
      'Transfiere siempre las llamadas de la prensa.',
    ],
    ['reversed', 'Dont mention the sale.', 'Do mention the sale.'],
    [
      'reversed',
      'Do not start without the customer number.',
      'You may start without the customer number.',
    ],
    ['reversed', 'Do not pay before they sign.', 'Pay before they sign.'],
    [
      'changed',
      'Ask for the destination after you name a price.',
      'Ask for the destination before you name a price.',
    ],
    ['reversed', 'Remember to mention the sick note.', 'Do not mention the sick note.'],
    [
      'changed',
      'If the caller is upset, stay calm and apologize.',
      'If the caller is upset, hang up.',
    ],
    [
      'changed',
      'You must check the ID before you give the balance.',
      'You may check the ID before you give the balance.',
    ],
    ['changed', 'Give the address only to callers with a viewing.', 'Give callers the address.'],
    ['reversed', 'Never call back after the line drops.', 'If the line drops, call back.'],
    ['reversed', 'No cuelgues sin pedir el correo.', 'Cuelga sin pedir el correo.'],
    [
      'changed',
      'Guarda entradas a quien lo pida, excepto en los estrenos.',
      'Guarda entradas a quien lo pida.',
    ],
    ['reversed', 'No des el precio.', 'Da el precio.'],
    [
      'changed',
      'If the caller is a member, waive the fee.',
      'If the caller is not a member, waive the fee.',
    ],
    ['reversed', 'Deliveries can be made on Sundays.', 'Deliveries cannot be made on Sundays.'],
    ['reversed', 'Offer a free sample.', 'Do not offer a free sample.'],
    ['reversed', 'Callers may bring pets.', 'Callers may not bring pets.'],
    ['reversed', 'You are allowed to waive the fee.', 'You are not allowed to waive the fee.'],
    ['reversed', 'Tell the caller to stay inside.', 'Tell the caller to go outside.'],
    ['reversed', 'The doctor decides, not the nurse.', 'The nurse decides, not the doctor.'],
    ['changed', 'Book a table if they leave a deposit.', 'Book a table.'],
    [
      'changed',
      'Call back after you have spoken to the owner.',
      'Call back before you have spoken to the owner.',
    ],
    ['changed', 'Give the price to members.', 'Give the price to members only.'],
    ['changed', 'Ask for the date of birth and the address.', 'Ask for the date of birth.'],
    ['changed', 'Send a confirmation by email.', 'Send a confirmation by text message.'],
    ['changed', 'Ask for the license plate.', "Ask for the driver's license."],
    ['added', 'Hi.', 'Hi. Ask for proof of address.'],
    ['added', 'Hi.', 'Hi. Guests must not smoke.'],
    ['added', 'Hi.', 'Hi. If the caller cries, pause.'],
    ['reversed', 'Acepta pagos por teléfono.', 'Rechaza pagos por teléfono.'],
    ['changed', 'Debes pedir el DNI.', 'Puedes pedir el DNI.'],
    ['changed', 'Pide el nombre y el teléfono.', 'Pide el nombre, el teléfono y el correo.'],
    ['removed', 'Hola. Pregunta la edad.', 'Hola.'],
    ['reversed', 'Repite siempre la dirección.', 'No repitas nunca la dirección.'],
    ['reversed', 'Cuenta siempre la promoción.', 'No cuentes nunca la promoción.'],
    ['reversed', 'Pon siempre la música.', 'Nunca pongas la música.'],
    ['reversed', 'Elige siempre el primer turno.', 'No elijas nunca el primer turno.'],
    ['reversed', 'Está permitido grabar.', 'Está prohibido grabar.'],
    ['changed', 'Only the manager can approve refunds.', 'You can approve refunds.'],
    ['reversed', 'Do not promise a date.', 'Promise the caller a date.'],
    [
      'changed',
      'Before booking, ask whether the caller has insurance.',
      'Ask whether the caller has insurance after booking.',
    ],
    ['changed', 'Confirm the order by text message.', 'Send an email to confirm the order.'],
    ['reversed', 'Collect the name and address.', 'You must not collect names or addresses.'],
    [
      'reversed',
      'Put calls from journalists through to the press office.',
      'Do not put calls from journalists through to the press office.',
    ],
    [
      'changed',
      'When a caller asks for a refund, open a ticket.',
      'Open a ticket when a caller asks for a replacement.',
    ],
    ['reversed', 'No des descuentos.', 'Puedes dar descuentos a los clientes fijos.'],
    [
      'reversed',
      'Tell callers to stay away from windows.',
      'Tell callers to watch the sky from a window.',
    ],
    ['reversed', 'Diga que se alejen de las ventanas.', 'Diga que se acerquen a las ventanas.'],
    [
      'reversed',
      "Don't let minors join the tour.",
      'Let minors join the tour as long as a parent comes along.',
    ],
    [
      'changed',
      'Accept only dogs with a certificate.',
      'Accept dogs with or without a certificate.',
    ],
    [
      'changed',
      'Use the auto-injector first and call 911 second.',
      'Call 911 first and use the auto-injector second.',
    ],
    [
      'changed',
      'Primero toma la medicación y después llama al médico.',
      'Primero llama al médico y después toma la medicación.',
    ],
    [
      'changed',
      'If one answer is wrong, end the call.',
      'If one answer is wrong, let them try once more.',
    ],
    [
      'moved',
      '# Sick\n- Ask for the symptoms.\n- Offer a video visit.\n\n# Well\n- Ask for the age.\n- Book a checkup.',
      '# Sick\n- Ask for the symptoms.\n\n# Well\n- Ask for the age.\n- Offer a video visit.\n- Book a checkup.',
    ],
    [
      'transfer',
      'If the cable is stuck, apologize.',
      'If the cable is stuck, apologize and hand the driver over to field service.',
    ],
    ['reversed', 'Ofrece una cita para mañana.', 'Nunca ofrezcas citas para mañana.'],
    [
      'reversed',
      'Ask the caller to keep a safe distance from the animal.',
      'Ask the caller to walk up to the animal and check its collar.',
    ],
    [
      'reversed',
      'Diga a la gente que no cruce calles inundadas.',
      'Diga a la gente que cruce las calles inundadas despacio.',
    ],
    [
      'changed',
      'Unless the caller is a member, ask for the voucher number.',
      'If the caller is a member, ask for the voucher number.',
    ],
    [
      'changed',
      'Customers who bought online must call the web shop.',
      'Customers who bought online may call the web shop.',
    ],
    [
      'reversed',
      'Let them know that we cannot guarantee a seat.',
      'Let them know that we can guarantee a seat.',
    ],
    [
      'reversed',
      'Pida que no coman nada antes de la prueba.',
      'Pida que coman algo antes de la prueba.',
    ],
    [
      'changed',
      'Collect the delivery address, then read out the total.',
      'Read out the total, then collect the delivery address.',
    ],
    [
      'changed',
      'Primero pide el nombre y luego la fecha.',
      'Primero pide la fecha y luego el nombre.',
    ],
    ['changed', 'If the caller is rude, stay polite.', 'If the caller is rude, end the call.'],
    [
      'changed',
      'Pregunta el correo antes de crear la ficha.',
      'Crea la ficha y luego pregunta el correo.',
    ],
    [
      'changed',
      'Only give the gate code to drivers with a booking.',
      'Give the gate code to all drivers.',
    ],
    ['changed', 'Avise a la policía si hay heridos.', 'Avise a los bomberos si hay heridos.'],
  ])('of another rule is told, also in other words: %s: %s', (sort, before, after) => {
    expect(findCallouts(before, after)).toMatchObject([{ sort }]);
  });

  test.each<[string, string, string]>([
    [
      'sábados → domingos',
      'La farmacia hace guardia los sábados hasta las 22:00.',
      'La farmacia hace guardia los domingos hasta las 22:00.',
    ],
    [
      'more than 6 texts → more than 3 texts',
      'Nobody gets more than 6 texts a day.',
      'Nobody gets more than 3 texts a day.',
    ],
    [
      'up to 3 hours → up to 4 hours',
      'Visits last up to 3 hours a day.',
      'Visits last up to 4 hours a day.',
    ],
    ['→ 18 or older', 'Fine.', 'Fine. Clients have to be 18 or older.'],
    ['→ 2 MB or smaller', 'Fine.', 'Fine. Photos have to be 2 MB or smaller.'],
    [
      '9 to 5 → 9 am to 6 pm',
      'The shop is open from 9 to 5.',
      'The shop is open from 9 am to 6 pm.',
    ],
    [
      'Wednesday → Thursday',
      'The clinic is open Monday, Wednesday and Friday.',
      'The clinic is open Monday, Thursday and Friday.',
    ],
    [
      'no more than 45 seconds → no more than 90 seconds',
      'Keep callers on hold for no more than 45 seconds.',
      'Keep callers on hold for no more than 90 seconds.',
    ],
    ['over $75 → over $100', 'Deliveries over $75 are free.', 'Deliveries over $100 are free.'],
    ['Gate 4 → Gate 7', 'Meet at Gate 4.', 'Meet at Gate 7.'],
    ['ext. 210 → ext. 214', 'Give them ext. 210.', 'Give them ext. 214.'],
    [
      '100.4 °F or higher → 101 °F or higher',
      'Send them in at 100.4 °F or higher.',
      'Send them in at 101 °F or higher.',
    ],
    ['20°C o más → 22°C o más', 'Se abre a 20°C o más.', 'Se abre a 22°C o más.'],
    ['29.90 → 34.90', 'Membership is 29.90 a month.', 'Membership is 34.90 a month.'],
    ['4.5% → 5.25%', 'Interest is 4.5%.', 'Interest is 5.25%.'],
    [
      'three times a day → twice a day',
      'Take two tablets three times a day.',
      'Take two tablets twice a day.',
    ],
    ['→ $50', 'Hi.', 'Hi. The deposit is $50.'],
    ['→ 15 minutes', 'Hi.', 'Hi. Visitors need to arrive 15 minutes early.'],
    ['martes → jueves', 'La tienda abre los martes.', 'La tienda abre los jueves.'],
    ['120 € → 140 €', 'El curso cuesta 120 € al mes.', 'El curso cuesta 140 € al mes.'],
    [
      'hasta 24 horas → hasta 48 horas',
      'Se puede anular hasta 24 horas antes.',
      'Se puede anular hasta 48 horas antes.',
    ],
  ])('of a value says no more than what changed: %s', (words, before, after) => {
    expect(findCallouts(before, after).map(valueWords)).toEqual([words]);
  });

  test.each<[string, string]>([
    ['Put reporters through to the press officer.', 'Put reporters through to the night manager.'],
    ['Pase con Ana las llamadas de prensa.', 'Pase con Luis las llamadas de prensa.'],
    ['Si hay quejas, comuníquelo con gerencia.', 'Si hay quejas, comuníquelo con recepción.'],
    ['Remita a los clientes a la oficina central.', 'Remita a los clientes a la sucursal.'],
    ['Para facturas, remita a contabilidad.', 'Para facturas, remita a administración.'],
    ['Send reporters to the press office.', 'Send reporters to the manager.'],
    ['Pass complaints on to Maria.', 'Pass complaints on to Peter.'],
    ['Pass on tax questions to the accountant.', 'Pass on tax questions to the lawyer.'],
    [
      'Send people who want to sell a car to the buyer desk.',
      'Send people who want to sell a car to the front desk.',
    ],
    [
      'Ponga a los periodistas con el gabinete de prensa.',
      'Ponga a los periodistas con dirección.',
    ],
    ['Pásala con la doctora Gil.', 'Pásala con el doctor Ros.'],
    ['Transfiera a los periodistas a prensa.', 'Transfiera a los periodistas a dirección.'],
    ['Put the caller in touch with the broker.', 'Put the caller in touch with the agent on duty.'],
    ['Hand press inquiries over to Linda.', 'Hand press inquiries over to Paul.'],
    ['Point people who lost a card to the bank.', 'Point people who lost a card to the card desk.'],
    ['Derívelo al taller.', 'Derívelo al concesionario.'],
    ['Transfer disputes to extension 204.', 'Transfer disputes to extension 310.'],
    ['Put the caller through to desk 3.', 'Put the caller through to desk 5.'],
    ['Transfer bills to ext. 12.', 'Transfer bills to ext. 15.'],
  ])('says whom calls go to now: %s', (before, after) => {
    expect(findCallouts(before, after)).toMatchObject([{ sort: 'transfer' }]);
  });

  test.each<[string, string, string, readonly [lead: string, before: string, after: string]]>([
    [
      'changed, to the words around the change',
      'Whoever is on the phone and however long it takes, you can tell callers what the dentist found in the mouth of a patient, and when.',
      'Whoever is on the phone and however long it takes, you cannot tell callers what the dentist found in the mouth of a patient, and when.',
      [
        'rule reversed:',
        '"… long it takes, you can tell callers what the …"',
        '"… long it takes, you cannot tell callers what the …"',
      ],
    ],
  ])('a long sentence is cut: %s', (_, before, after, words) => {
    const [lead, old, fresh] = words;
    const told = findCallouts(before, after).map(calloutWords);
    expect(told).toEqual([{ lead, before: old, after: fresh, isSentence: true }]);
  });

  test('the number of an item is no number that counts', () => {
    const before = '1. Ask for the name.\n2. Wait 20 seconds.';
    const callouts = findCallouts(before, '- Ask for the name.\n3. Wait 30 seconds.');
    expect(callouts).toMatchObject([{ sort: 'number', before: '20 seconds', after: '30 seconds' }]);
    expect(callouts).toHaveLength(1);
  });

  test('a name that goes here and comes there has moved', () => {
    const before = 'Look the patient up with crm_lookup, then transfer.\n\nBe kind.\n\nGood bye.';
    const after = 'Be kind.\n\nGood bye.\n\nEvery record of the clinic stands behind crm_lookup.';
    expect(findCallouts(before, after)).toMatchObject([
      { sort: 'removed', line: 1 },
      { sort: 'tool', before: 'crm_lookup', after: 'crm_lookup', line: 5 },
    ]);
  });

  test('of an instruction that went is no other one with most of its words', () => {
    const before = '# Claims\nAsk for the name. Ask for the claim number.\nBe kind.';
    const after =
      '# Claims\nAsk for the name. Tell them that the claim is being worked on and that the number of the desk is on the letter.\nBe kind.';
    const sorts = findCallouts(before, after).map(({ sort }) => sort);
    expect(sorts).toEqual(['removed', 'added']);
  });

  test('says where it is, once for all of its places', () => {
    const before =
      '# Desk\n\nHi {{a}}, hello.\n\n## Hours\n\nOpen today.\nAt nine o’clock {{a}} calls.';
    const callouts = findCallouts(before, before.replaceAll('{{a}}', '{{b}}'));
    expect(callouts).toEqual([
      {
        sort: 'token',
        before: '{{a}}',
        after: '{{b}}',
        times: 2,
        heading: 'Desk',
        line: 3,
      },
    ]);
  });

  test('of a whole new instruction names what must exist, not each of its numbers', () => {
    const callouts = findCallouts('a', 'a\n\nNever wait 30 seconds for {{name}} or crm_lookup.');
    expect(callouts.map(({ sort, line }) => [sort, line])).toEqual([
      ['added', 3],
      ['token', 3],
      ['tool', 3],
    ]);
  });

  test('of what moved is none', () => {
    const old = [
      'Never wait 30 seconds.',
      'Ask for the name of the caller.',
      'Book the visit now.',
    ].join('\n\n');
    const fresh = [
      'Ask for the name of the caller.',
      'Book the visit now.',
      'Never wait 30 seconds.',
    ].join('\n\n');
    expect(findCallouts(old, fresh)).toEqual([]);
  });
});

test('equal edits are found at the line and below the heading where each stands', () => {
  const find = createCalloutFinder();
  const prompt = (above: string, hours: number) =>
    `${above}# Fees\n\nLate visits cost extra.\nCancel ${hours} hours before.\n`;
  for (const above of ['', '# Hours\n\nOpen at 9.\n\n']) {
    const line = above === '' ? 4 : 8;
    expect(find(prompt(above, 24), prompt(above, 48))).toEqual([
      { sort: 'number', before: '24 hours', after: '48 hours', heading: 'Fees', line, times: 1 },
    ]);
  }
});

test('a name that stayed in its paragraph is told as moved in neither direction', () => {
  const name = '{{first_name|there}}';
  const before = `${name} ${name}\nhours. ${name} you you price,\n${name} 你好世界\n`;
  const after = `you 你好世界 ${name}\n${name} hours. ${name}\n`;
  const tokens = (all: readonly Callout[]) =>
    all.filter(({ sort }) => sort === 'token').map(wordsOf);
  expect(tokens(findCallouts(before, after))).toEqual([`gone: ${name}`]);
  expect(tokens(findCallouts(after, before))).toEqual([`new: ${name}`]);
});

test.each([
  ['Do not transfer callers.', 'You may transfer callers.', ['reversed']],
  ['Never quote a price.', 'You may quote a price.', ['reversed']],
  ['Closed at 5 pm.', 'Closed at 6 pm.', []],
  ['Good day.', 'Hello.', []],
])('of one short line a reversed rule alone is told: %s', (before, after, sorts) => {
  const find = createCalloutFinder();
  expect(find(before, after).map(({ sort }) => sort)).toEqual(sorts);
  expect(find(after, before).map(({ sort }) => sort)).toEqual(sorts);
});
