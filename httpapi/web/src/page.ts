// The page at /. The server renders it with the two components for one restaurant
// and one language. This script lets the guest change both, with the query
// parameters ?restaurant= and ?lang=.

interface Restaurant { id: string; name: string }

const limit = 500; // restaurants in the list; ?restaurant= opens any other one

/** chooser makes a list in the header set a query parameter of the address. */
function chooser(name: string, select: HTMLSelectElement | null): void {
  select?.addEventListener("change", () => {
    const params = new URLSearchParams(location.search);
    params.set(name, select.value);
    location.search = params.toString();
  });
}

/** fill adds every restaurant to the list. At first it has only the restaurant of the page. */
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
