// The page at /: larder has made it of the two components, for a restaurant and
// a language. Here both can be changed: ?restaurant= and ?lang= stand in the
// address.

interface Restaurant { id: string; name: string }

const limit = 500; // restaurants to choose from; others are reached by ?restaurant=

/** chooser has a list of the page's header choose a part of the address. */
function chooser(name: string, select: HTMLSelectElement | null): void {
  select?.addEventListener("change", () => {
    const asked = new URLSearchParams(location.search);
    asked.set(name, select.value);
    location.search = asked.toString();
  });
}

/** fill puts every restaurant into the list, which has that of the page alone. */
async function fill(select: HTMLSelectElement): Promise<void> {
  const answer = await fetch(`/v1/restaurants?limit=${limit}`);
  if (!answer.ok) throw new Error(`GET /v1/restaurants: ${answer.status}`);
  const { result } = (await answer.json()) as { result: Restaurant[] };
  const here = select.value;
  if (!result.some((r) => r.id === here)) result.unshift({ id: here, name: select.options[0]!.text });
  select.replaceChildren(...result.map((r) => new Option(r.name, r.id, r.id === here, r.id === here)));
}

const which = document.querySelector<HTMLSelectElement>("#which select");
chooser("lang", document.querySelector("#language select"));
chooser("restaurant", which);
if (which) void fill(which);
