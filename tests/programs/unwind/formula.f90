! SPDX-License-Identifier: BSD-2-Clause
!
! Five levels of Fortran, one of them recursive; then it sleeps, a second each time.
module formula
  implicit none
  integer, volatile :: calls = 0
contains
  subroutine formula_4(room, n)
    integer, intent(in) :: n
    real, intent(inout) :: room(n)
    do while (calls >= 0)
      call sleep(1)
      room(1) = room(1) + 1
      calls = calls + 1
    end do
  end subroutine

  recursive subroutine formula_3(n)
    integer, intent(in) :: n
    real :: room(n)
    room = 1
    if (n > 3) then
      call formula_3(n - 1)
    else
      call formula_4(room, n)
    end if
    calls = calls + int(room(1))
  end subroutine

  subroutine formula_2(n)
    integer, intent(in) :: n
    call formula_3(n)
    calls = calls + 1
  end subroutine

  subroutine formula_1(n)
    integer, intent(in) :: n
    call formula_2(n)
    calls = calls + 1
  end subroutine
end module

program main
  use formula
  implicit none
  write (*, '(A)') 'ready'
  flush (6)
  call formula_1(5)
end program
