// The person's page. The form works without this file; with it, answers come without leaving the page, and what was
// entered survives a reload, the way back and another language: this tab keeps it (session storage), and nobody else.
"use strict";

(() => {
  const form = document.getElementById("form");
  const status = document.getElementById("status");
  const language = document.documentElement.lang;
  const WHOLE = ["here", "fresh", "clear", "again", "speak", "reset", "open"]; // wishes after which the fields are shown anew
  let running = null;
  let answered = Promise.resolve(); // once nothing is on its way any more
  let timer = 0;

  document.documentElement.classList.add("script");

  // ------------------------------------------------------------------------------------------------------- memory
  // Fields as they were written, with the language that they were written in. An example has a place of its own, so
  // that looking at one does not cost anybody what they entered.

  const example = () => form.querySelector("[name=example]");
  const place = () => [form.dataset.name, ...(example() ? [example().value] : [])].join(":");

  const texts = () => [...new FormData(form)].filter(([, value]) => typeof value === "string"); // no files

  function remember() {
    const fields = texts();
    try {
      sessionStorage.setItem(place(), JSON.stringify({ language, fields }));
    } catch {
      // Where nothing can be kept, the page works as it does without.
    }
  }

  function recall() {
    try {
      return JSON.parse(sessionStorage.getItem(place()));
    } catch {
      return null;
    }
  }

  function forget() {
    try {
      sessionStorage.removeItem(place());
    } catch {
      // nothing was kept
    }
  }

  // What is edited is an example no longer.
  function makeOwn() {
    if (!example()) return;
    example().remove();
    history.replaceState(null, "", form.dataset.home);
  }

  function restore() {
    const kept = recall();
    if (!kept) return;
    const data = new URLSearchParams(kept.fields);
    if (kept.language === language) {
      for (const field of form.elements) {
        if (field.type === "checkbox") field.checked = data.has(field.name);
        else if (field.type === "radio") field.checked = (data.get(field.name) || "") === field.value;
        else if (data.has(field.name) && field.name !== "do") field.value = data.get(field.name);
      }
    }
    ask(kept.language === language ? "again" : `speak:${language}`, "", data);
  }

  // ------------------------------------------------------------------------------------------------------ answers

  // Put the parts of another page in the place of ours. `whole` are those with fields: only replaced if asked for,
  // so that nobody is interrupted while typing; `kept` is left alone.
  function show(page, whole, kept) {
    const focused = document.activeElement;
    const [answer, other] = [document, page].map((one) => one.getElementById("answer"));
    if (answer.dataset.state !== other.dataset.state) answer.replaceWith(other);
    for (const part of document.querySelectorAll(whole ? "[data-whole], [data-part]" : "[data-part]")) {
      const fresh = page.getElementById(part.id);
      if (!part.isConnected || !fresh || part.id === kept || fresh.isEqualNode(part)) continue;
      for (const details of part.querySelectorAll("details")) {
        const twin = fresh.querySelector("#" + details.id);
        if (twin) twin.open ||= details.open;
      }
      part.replaceWith(fresh);
    }
    for (const field of form.elements) {
      const twin = field.id && page.getElementById(field.id);
      for (const name of twin ? ["aria-invalid", "aria-valuetext"] : []) {
        if (twin.hasAttribute(name)) field.setAttribute(name, twin.getAttribute(name));
        else field.removeAttribute(name);
      }
    }
    if (focused && focused.id && !focused.isConnected) {
      const again = document.getElementById(focused.id) || document.getElementById("now");
      if (again) again.focus();
    }
    status.textContent = document.getElementById("decision").dataset.spoken;
  }

  // Bring the answer to who asked for it, if they do not see it: on a telephone it is below the form.
  function lead() {
    const title = document.getElementById("decision-title");
    const { top } = title.getBoundingClientRect();
    title.focus({ preventScroll: true });
    if (top < 0 || top > window.innerHeight / 2) document.getElementById("main").scrollIntoView();
  }

  function stop() {
    clearTimeout(timer);
    if (running) running.abort();
  }

  function ask(...wanted) {
    return (answered = bring(...wanted));
  }

  async function bring(wish, kept, given, address = form.action) {
    stop();
    const mine = (running = new AbortController());
    const data = given || new URLSearchParams(texts());
    data.set("do", wish);
    document.body.setAttribute("aria-busy", "true");
    try {
      const response = await fetch(address, { method: "POST", body: data, headers: { accept: "text/html" }, signal: mine.signal });
      const text = await response.text();
      if (!(response.headers.get("content-type") || "").startsWith("text/html")) throw new Error(text);
      show(new DOMParser().parseFromString(text, "text/html"), WHOLE.includes(wish.split(":")[0]), kept);
      remember();
      if (["menu", "here", "fresh", "open"].includes(wish)) lead();
    } catch (error) {
      if (error.name === "AbortError") return;
      status.textContent = form.dataset.failed;
      status.classList.remove("unseen");
    }
    if (running === mine) {
      running = null;
      document.body.removeAttribute("aria-busy");
    }
  }

  async function speak(other) {
    await answered; // or a step that was told a moment ago would be lost
    const address = new URL(form.dataset.home, location.href);
    if (example()) address.searchParams.set("example", example().value);
    address.searchParams.set("language", other);
    if (recall()) remember(); // with what was typed last
    location.assign(address);
  }

  form.addEventListener("submit", (event) => {
    const button = event.submitter;
    if (button && button.hasAttribute("data-native")) return;
    event.preventDefault();
    const [wish, detail] = (button ? button.value : "menu").split(":");
    if (wish === "clear") {
      stop(); // an answer that comes now would be remembered
      forget();
      location.assign(form.dataset.home);
    } else if (wish === "speak") speak(detail);
    else if (wish === "open") {
      const data = new FormData(form);
      makeOwn();
      document.getElementById("file").value = "";
      ask(wish, "", data, button.formAction);
    } else ask(button ? button.value : "menu");
  });

  form.addEventListener("input", (event) => {
    clearTimeout(timer);
    if (event.target.id === "position") {
      timer = setTimeout(ask, 30, "slide", "slider"); // the slider stays: it is in somebody's hand
    } else if (event.target.type !== "file") {
      makeOwn();
      remember();
      // Who has sent the form with mistakes sees them go one by one; before, nothing counts as missing.
      const wish = document.querySelector(".decision.wrong") ? "menu:live" : "draft";
      timer = setTimeout(ask, event.target.matches("[inputmode]") ? 400 : 0, wish);
    }
  });

  document.addEventListener("click", (event) => {
    if (event.target.closest("[data-print]")) window.print();
    const link = event.target.closest(".summary a");
    if (!link) return;
    event.preventDefault();
    const field = document.getElementById(link.hash.slice(1));
    const details = field.closest("details");
    if (details) details.open = true;
    field.focus();
  });

  restore();
})();
